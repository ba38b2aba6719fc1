//! Objects in a bucket as inputs.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::PartsFile;
use super::found::{NamedFile, Remote, RemoteDirectory};
use super::pattern::{has_pattern, literal_start, matches};
use crate::error::{Error, ErrorKind, Result, message};
use crate::intake::format::{
    MarkerExists, OutDirectory, SkipReason, check_part_is_finished, part_files_listed,
};
use crate::store::{Bucket, Failure, FailureKind, Location, Object, ObjectParts};

/// Finds what `location` in `bucket` refers to.
pub fn find(
    bucket: &Bucket,
    location: &Location,
    needs_success: bool,
    out: Option<&OutDirectory>,
) -> Result<Vec<Remote>> {
    let search = Search { bucket, location, needs_success, out, markers: RefCell::default() };
    match has_pattern(&location.key) {
        true => search.pattern(),
        false => search.exact(),
    }
}

/// Finds the object at `location` in `bucket`, or all objects below it, even if its key could be a pattern.
pub fn find_exact(bucket: &Bucket, location: &Location) -> Result<Vec<Remote>> {
    let markers = RefCell::default();
    Search { bucket, location, needs_success: false, out: None, markers }.exact()
}

/// Looks for inputs in a bucket.
struct Search<'s> {
    bucket: &'s Bucket,
    location: &'s Location,
    needs_success: bool,
    out: Option<&'s OutDirectory>,
    /// Whether the success markers exist that were looked up so far, by their paths.
    markers: RefCell<HashMap<PathBuf, bool>>,
}

impl Search<'_> {
    /// Finds the object with the key of the location, or all objects below it.
    fn exact(&self) -> Result<Vec<Remote>> {
        let Location { key, is_prefix, .. } = self.location;
        let is_prefix = *is_prefix;
        // Lists first, because a store that keeps objects as files may fail if a prefix is requested as an object.
        let listed = match self.bucket.list(key) {
            // Permission to read an object does not include permission to list the bucket.
            Err(failure) if failure.kind == FailureKind::Denied && !is_prefix => {
                match self.bucket.head(key) {
                    Ok(Some(object)) => {
                        return self.part(key, object).map(|part| vec![part]);
                    }
                    Ok(None) | Err(_) => Err(failure),
                }
            }
            listed => listed,
        };
        if let Some(mut directory) = self.below(key, listed)? {
            if !is_prefix && self.has_object(key) {
                directory.parts.skipped.push((self.path(key), SkipReason::Prefix));
            }
            return Ok(vec![Remote::Directory(directory)]);
        }
        let object = if is_prefix { None } else { self.asked(key, self.bucket.head(key))? };
        let words = "there is no such object, and none below it";
        let missing = || Error::new(ErrorKind::Input, message!(&*self.path(key), ": {words}"));
        Ok(vec![self.part(key, object.ok_or_else(missing)?)?])
    }

    /// Whether the object `key` exists, and is not only the marker of a prefix. Without permission to list it, it cannot be read by
    /// a pattern either.
    fn has_object(&self, key: &str) -> bool {
        matches!(self.bucket.find(key), Ok(Some(object)) if object.bytes > 0)
    }

    /// Finds the inputs among the objects that are `listed` below `key`; `None` if there are none.
    fn below(
        &self,
        key: &str,
        listed: std::result::Result<Vec<(String, Object)>, Failure>,
    ) -> Result<Option<RemoteDirectory>> {
        let listed = self.asked(key, listed)?;
        if listed.is_empty() { Ok(None) } else { self.directory(key, listed).map(Some) }
    }

    /// Finds the objects and prefixes that the pattern matches, level by level.
    fn pattern(&self) -> Result<Vec<Remote>> {
        let parts: Vec<&str> = self.location.key.split('/').collect();
        let literal = parts.iter().take_while(|part| !has_pattern(part)).count();
        let mut prefixes = vec![parts[..literal].join("/")];
        let mut found = Vec::new();
        for (at, part) in parts.iter().enumerate().skip(literal) {
            let is_last = at + 1 == parts.len();
            for prefix in std::mem::take(&mut prefixes) {
                let listed = self.bucket.list_level_from(&prefix, literal_start(part));
                let level = self.asked(&prefix, listed)?;
                let key =
                    |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
                prefixes
                    .extend(level.prefixes.iter().filter(|name| matches(part, name)).map(|name| key(name)));
                if is_last && !self.location.is_prefix {
                    let objects = level.objects.into_iter().filter(|(name, _)| matches(part, name));
                    found.extend(objects.map(|(name, object)| (key(&name), Some(object))));
                }
            }
        }
        // An empty object may be the marker of a prefix with the same name.
        let of_prefixes: HashSet<&String> = prefixes.iter().collect();
        let is_marker = |key: &String, object: &Object| is_marker(object, || of_prefixes.contains(key));
        found.retain(|(key, object)| !object.as_ref().is_some_and(|object| is_marker(key, object)));
        found.extend(prefixes.into_iter().map(|prefix| (prefix, None)));
        found.sort_unstable_by(|(one, _), (other, _)| one.split('/').cmp(other.split('/')));
        let mut all = Vec::new();
        for (key, object) in found {
            match object {
                Some(object) => all.push(self.part(&key, object)?),
                // There may only be the marker of an empty folder.
                None => all.extend(self.below(&key, self.bucket.list(&key))?.map(Remote::Directory)),
            }
        }
        if all.is_empty() {
            let path = self.path(&self.location.key);
            // Browsers name a second download `export[1].csv`.
            return self.exact().map_err(|error| match error.kind() {
                ErrorKind::Input => {
                    Error::new(ErrorKind::Input, message!(&*path, ": no object matches this pattern"))
                }
                _ => error,
            });
        }
        Ok(all)
    }

    /// The location `prefix` with all objects below it.
    fn directory(&self, prefix: &str, listed: Vec<(String, Object)>) -> Result<RemoteDirectory> {
        let path = self.path(prefix);
        let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let parents: HashSet<String> = listed
            .iter()
            .flat_map(|(key, _)| key.match_indices('/').map(|(at, _)| key[..at].to_owned()))
            .collect();
        let mut files: Vec<NamedFile> = Vec::with_capacity(listed.len());
        let mut names = Vec::with_capacity(listed.len());
        for (key, object) in listed {
            let Some(name) = key.strip_prefix(&start).filter(|name| !name.is_empty()) else { continue };
            if !is_marker(&object, || parents.contains(&key)) {
                names.push(name.to_owned());
                files.push(self.file(key, object));
            }
        }
        let out = self.out_below(prefix)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut has_marker = |marker: &Path| self.has_marker(marker);
        let above: Option<&mut MarkerExists<'_>> =
            if self.needs_success { Some(&mut has_marker) } else { None };
        let parts = part_files_listed(&path, &names, above, out.as_deref())?;
        Ok(RemoteDirectory { path, parts, files })
    }

    /// The location that the run publishes to, relative to `prefix`, if it is below `prefix`.
    fn out_below(&self, prefix: &str) -> Result<Option<String>> {
        let Some(out) = self.out.and_then(OutDirectory::location) else { return Ok(None) };
        let above = Location { key: prefix.into(), ..self.location.clone() };
        let out = Location::parse(out)?;
        let below = out.as_ref().and_then(|out| out.below(&above)).filter(|below| !below.is_empty());
        Ok(below.map(str::to_owned))
    }

    /// The object `key` as a file. If it is a part file, it needs a success marker like a local one.
    fn part(&self, key: &str, object: Object) -> Result<Remote> {
        let part = self.file(key.to_owned(), object);
        if self.needs_success {
            check_part_is_finished(&part.0, |marker| self.has_marker(marker))?;
        }
        Ok(Remote::File(part))
    }

    /// Whether the success marker with this path exists. Each takes one request, however many files or prefixes are below it.
    fn has_marker(&self, marker: &Path) -> Result<bool> {
        if let Some(&exists) = self.markers.borrow().get(marker) {
            return Ok(exists);
        }
        let key = marker.strip_prefix(self.path("")).ok().and_then(Path::to_str).expect("its key is UTF-8");
        let exists = self.asked(key, self.bucket.head(key))?.is_some();
        self.markers.borrow_mut().insert(marker.to_owned(), exists);
        Ok(exists)
    }

    fn file(&self, key: String, object: Object) -> NamedFile {
        let (name, bytes) = (self.path(&key), object.bytes);
        let parts = ObjectParts::new(self.bucket.clone(), key, object);
        let file = PartsFile::new(name.clone(), Arc::new(parts), bytes);
        (name, Arc::new(file))
    }

    fn path(&self, key: &str) -> PathBuf {
        Location { key: key.to_owned(), ..self.location.clone() }.path()
    }

    fn asked<T>(&self, key: &str, answer: std::result::Result<T, Failure>) -> Result<T> {
        answer.map_err(|failure| not_found(&self.path(key), failure))
    }
}

/// Whether an object is only the marker of a directory.
fn is_marker(object: &Object, is_parent: impl FnOnce() -> bool) -> bool {
    object.bytes == 0 && is_parent()
}

/// The error for an input that cannot be found.
pub fn not_found(path: &Path, failure: Failure) -> Error {
    match failure.kind {
        FailureKind::NoBucket => {
            let answer = failure.answer;
            Error::new(ErrorKind::Input, message!(path, ": there is no such bucket ({answer})"))
        }
        _ => failure.into_error(path, "could not be read"),
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;
    use crate::store::{Condition, Put};

    #[test]
    fn an_object_with_the_name_of_a_prefix_or_a_pattern_is_read_or_reported_as_skipped() {
        let at = |url: &str| Location::parse(Path::new(url)).unwrap().unwrap();
        let bucket = Bucket::new(Arc::new(InMemory::new()), &at("s3://bucket"), "memory".into());
        let objects = [
            ("p", "1"),
            ("p/a", "2"),
            ("day/p", "3"),
            ("day/p/a", "4"),
            ("marker", ""),
            ("marker/a", "5"),
            ("q/a", "6"),
            ("r/export[1].csv", "7"),
            ("r/shop[2]/a*", "8"),
            ("r/x1", "9"),
            ("r/x[1]", "10"),
        ];
        for (key, bytes) in objects {
            bucket.put(Put::new(key, bytes, Condition::None)).unwrap();
        }
        for (url, read, skipped) in [
            ("s3://bucket/p", &["p/a"][..], &["p"][..]),
            ("s3://bucket/p/", &["p/a"], &[]),
            ("s3://bucket/day/p", &["day/p/a"], &["day/p"]),
            ("s3://bucket/day/?", &["day/p", "day/p/a"], &[]),
            ("s3://bucket/marker", &["marker/a"], &[]),
            ("s3://bucket/q", &["q/a"], &[]),
            ("s3://bucket/q/a", &["q/a"], &[]),
            ("s3://bucket/r/export[1].csv", &["r/export[1].csv"], &[]),
            ("s3://bucket/r/shop[2]/", &["r/shop[2]/a*"], &[]),
            ("s3://bucket/r/shop[2]/a*", &["r/shop[2]/a*"], &[]),
            ("s3://bucket/r/x[1]", &["r/x1"], &[]),
            ("s3://bucket/r/x[[]1]", &["r/x[1]"], &[]),
        ] {
            let (mut files, mut left_out) = (Vec::new(), Vec::new());
            for found in find(&bucket, &at(url), false, None).unwrap() {
                match found {
                    Remote::File((name, _)) => files.push(name),
                    Remote::Directory(directory) => {
                        files.extend(directory.parts.files);
                        left_out.extend(directory.parts.skipped);
                    }
                }
            }
            let paths =
                |keys: &[&str]| keys.iter().map(|key| at("s3://bucket").path().join(key)).collect::<Vec<_>>();
            let left_out_too: Vec<_> =
                paths(skipped).into_iter().map(|path| (path, SkipReason::Prefix)).collect();
            assert_eq!((files, left_out), (paths(read), left_out_too), "{url}");
        }
        let named = find_exact(&bucket, &at("s3://bucket/r/x[1]")).unwrap();
        assert!(matches!(&named[..], [Remote::File((name, _))] if name.ends_with("x[1]")));
    }

    #[test]
    fn part_files_that_a_pattern_or_a_key_names_need_a_success_marker_if_it_is_required() {
        let at = |url: &str| Location::parse(Path::new(url)).unwrap().unwrap();
        let bucket = Bucket::new(Arc::new(InMemory::new()), &at("s3://bucket"), "memory".into());
        let put = |key: &str| _ = bucket.put(Put::new(key, "1", Condition::None)).unwrap();
        let urls = ["a/part-*", "a/part-0", "a/day=1/part-*", "a/day=*/part-0", "*/part-1", "part-0"];
        ["a/part-0", "a/part-1", "a/day=1/part-0", "a/list.txt", "part-0"].into_iter().for_each(put);
        let find = |url: &str, needs_success| {
            find(&bucket, &at(&format!("s3://bucket/{url}")), needs_success, None)
                .map(|found| found.len())
                .map_err(|error| error.to_string())
        };
        for url in urls {
            let refused = find(url, true).unwrap_err();
            assert!(
                refused.starts_with("s3://bucket/") && refused.contains("there is no _SUCCESS"),
                "{refused}"
            );
            assert!(find(url, false).is_ok(), "{url}");
        }
        assert_eq!(find("a/*.txt", true), Ok(1), "not a part file");
        put("a/_SUCCESS");
        put("_SUCCESS");
        let counts = urls.map(|url| find(url, true));
        assert_eq!(counts, [2, 1, 1, 1, 1, 1].map(Ok));
        // A prefix: the marker may be in it, above a partition, or in each prefix below it.
        ["t/day=1/part-0", "t/_SUCCESS", "d/1/part-0", "d/1/_SUCCESS", "d/2/part-0"]
            .into_iter()
            .for_each(put);
        for (prefix, count) in [("a/", 1), ("t/day=1/", 1), ("t/day=*/", 1), ("d/1/", 1)] {
            assert_eq!(find(prefix, true), Ok(count), "{prefix}");
        }
        let refused = find("d/", true).unwrap_err();
        assert!(refused.starts_with("s3://bucket/d/2: has no _SUCCESS (data files: 1)"), "{refused}");
    }
}
