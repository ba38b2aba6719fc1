//! The servers that the tests publish to, each on a free port of this machine and stopped on drop.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The access key that the servers accept.
pub const ACCESS_KEY: &str = "AKIATESTSOFSITEMILL0";
pub const SECRET_KEY: &str = "vErY/SecreT+keyOfTheTestsOfSitemill+0123";

/// A server process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts s3s-fs, which keeps buckets as directories in `root`. It rejects requests that are not signed with the key.
    pub fn s3s_fs(root: &Path) -> Self {
        Self::start(s3s_fs(root).args(["--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY]))
    }

    /// Starts an s3s-fs that accepts requests without signatures, for readers without credentials and for other tools.
    pub fn s3s_fs_for_anybody(root: &Path) -> Self {
        Self::start(&mut s3s_fs(root))
    }

    /// Starts moto, which keeps everything in memory and accepts any key.
    pub fn moto() -> Self {
        let path = installed("SITEMILL_MOTO_SERVER", "python/bin/moto_server");
        let mut moto = starting(&path);
        Self::start(moto.args(["-H", "127.0.0.1", "-p", "0"]))
    }

    /// Starts Azurite, Microsoft's Azure Blob Storage emulator, which keeps containers in `root` and accepts only its own account.
    pub fn azurite(root: &Path) -> Self {
        let mut azurite = starting(&installed("SITEMILL_AZURITE", "azurite/node_modules/.bin/azurite-blob"));
        azurite.args(["--blobHost", "127.0.0.1", "--blobPort", "0", "--silent"]);
        // The first option accepts newer versions of the protocol.
        azurite.args(["--skipApiVersionCheck", "--disableTelemetry", "--location"]).arg(root);
        Self::start(&mut azurite)
    }

    /// Starts fake-gcs-server, an emulator of Google Cloud Storage that keeps everything in memory, with a translator of requests.
    /// It accepts the role that [`Kind::variables`](crate::kind::Kind::variables) names, and requests without credentials.
    pub fn fake_gcs() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cloud/gcs/serve.py");
        let program = installed("SITEMILL_FAKE_GCS_SERVER", "python/bin/fake-gcs-server");
        Self::start(starting(Path::new("python3")).arg(script).arg(program))
    }

    /// Starts a server of the files in `root` that speaks TLS, with a new certificate for localhost, which is in
    /// `root/certificate.pem`.
    pub fn tls(root: &Path) -> Self {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cloud/tls");
        let (certificate, key) = (root.join("certificate.pem"), root.join("key.pem"));
        let mut openssl = Command::new("openssl");
        openssl
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-config"])
            .arg(sources.join("certificate.cnf"));
        let made = openssl.arg("-out").arg(&certificate).arg("-keyout").arg(&key).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut python = starting(Path::new("python3"));
        Self::start(python.arg(sources.join("serve.py")).arg(root).arg(certificate).arg(key))
    }

    /// Starts a server and waits until it prints its port.
    fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        let (found, address) = std::sync::mpsc::channel();
        for output in outputs {
            let found = found.clone();
            // Reads until the server ends, because a full pipe would block it.
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // One of the servers first prints the address without a scheme, before it listens.
                    if let Some((_, rest)) = line.split_once("://") {
                        let _ = found.send(rest.trim().parse().ok());
                    }
                }
            });
        }
        drop(found);
        let address = address.iter().flatten().next();
        Self { address: address.unwrap_or_else(|| panic!("{command:?} has ended")), child }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn s3s_fs(root: &Path) -> Command {
    let mut command = starting(&installed("SITEMILL_S3S_FS", "bin/s3s-fs"));
    command.env("RUST_LOG", "s3s_fs=info").args(["--host", "127.0.0.1", "--port", "0"]).arg(root);
    command
}

/// A command that starts `program`, which ends with the test even if the test is killed.
fn starting(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

/// The program named by `variable`, or `path` below the directory where `scripts/cloud-test` installs programs.
#[track_caller]
fn installed(variable: &str, path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
    let program = std::env::var_os(variable).map_or_else(|| target.join("cloud").join(path), PathBuf::from);
    assert!(
        program.exists(),
        "{} is not there: run scripts/cloud-test, which installs it, or set {variable}",
        program.display()
    );
    program
}
