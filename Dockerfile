# CI does not build this image. Build it with: docker build -t sitemill:0.1.0 .
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
WORKDIR /sitemill
COPY . .
RUN scripts/package --deb

FROM debian:bookworm-slim
# Certificates, by which object stores are trusted, are only recommended by it.
RUN --mount=type=bind,from=build,source=/sitemill/target/package,target=/packages \
    apt-get update && apt-get install -y --no-install-recommends ca-certificates /packages/*.deb && rm -rf /var/lib/apt/lists/*
# The user of scripts/deploy/kubernetes/cronjob.yaml. Mount the input and the output, which this user must be able to write.
USER 10001:10001
ENTRYPOINT ["sitemill"]
