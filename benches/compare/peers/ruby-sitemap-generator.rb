# Builds sitemaps with Ruby's sitemap_generator as in its documentation, plus a Set for the duplicates:
#   ruby ruby-sitemap-generator.rb GEMS urls.txt OUT
# Tags that are not in the input are off, which is less work. The gem compresses with zlib's default level, 6, and writes
# sitemaps of 50,000 URLs and an index file.

require 'set'
require 'uri'

gems, input, out = ARGV
Gem.paths = { 'GEM_HOME' => File.expand_path(gems) }
require 'sitemap_generator'

SitemapGenerator.verbose = false
seen = Set.new
File.open(input, encoding: 'utf-8') do |lines|
  site = URI(lines.readline(chomp: true))
  site = "#{site.scheme}://#{site.host}"
  lines.rewind
  SitemapGenerator::Sitemap.default_host = site
  SitemapGenerator::Sitemap.public_path = File.expand_path(out)
  SitemapGenerator::Sitemap.create(include_root: false, max_sitemap_links: 50_000) do
    lines.each_line(chomp: true) do |url|
      add url.delete_prefix(site), lastmod: nil, changefreq: nil, priority: nil if seen.add?(url)
    end
  end
end
