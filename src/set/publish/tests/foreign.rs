//! Files in the way that sitemill did not write.

use super::*;

fn admitted(fs: &Memory, take_over: bool) -> Result<Workspace> {
    let mut workspace = open(fs);
    let consent = Consent { take_over, replace_set: false };
    workspace.admit(&BASE.parse().unwrap(), Protocol::V0_9, consent).map(|()| workspace)
}

/// The contents of the files in `.sitemill/taken-over`.
fn copies(fs: &Memory) -> Vec<Vec<u8>> {
    let directory = Path::new(OUT).join(".sitemill/taken-over");
    let names = fs.list(&directory).unwrap_or_default();
    names.into_iter().map(|(name, _)| fs.read(&directory.join(name)).unwrap()).collect()
}

#[test]
fn a_file_in_the_way_is_refused_before_any_work_or_copied_when_its_name_is_needed() {
    for file in ["sitemap-index-1.xml", ROBOTS_FILE] {
        let (fs, path) = (empty(), Path::new(OUT).join(file));
        fs.put(&path, b"theirs");
        let refused = admitted(&fs, false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Output);
        assert!(
            refused.to_string().contains(file) && refused.to_string().contains("`take_over`"),
            "{refused}"
        );
        // Without a consent, the file is refused as well.
        assert_eq!(first(&fs).unwrap_err().kind(), ErrorKind::Output);
        assert_eq!((fs.read(&path).unwrap(), copies(&fs)), (b"theirs".to_vec(), Vec::new()));

        let workspace = admitted(&fs, true).unwrap();
        assert!(copies(&fs).is_empty(), "nothing is done yet");
        let prepared = prepare_empty(workspace);
        assert_eq!(copies(&fs), if file == ROBOTS_FILE { vec![b"theirs".to_vec()] } else { Vec::new() });
        drop(prepared);
        assert_eq!(fs.read(&path).unwrap(), b"theirs");
    }
}

#[test]
fn a_set_that_grows_to_a_file_in_the_way_is_refused_and_leaves_nothing_behind() {
    let fs = world();
    let path = Path::new(OUT).join("sitemap-index-4.xml");
    fs.put(&path, b"theirs");
    let before = files(&fs);
    let refused = larger(&fs).unwrap_err();
    assert!(refused.to_string().contains("sitemap-index-4.xml"), "{refused}");
    assert_eq!((files(&fs), fs.read(&path).unwrap()), (before, b"theirs".to_vec()));
    fs.remove(&path).unwrap();
    larger(&fs).unwrap();
    assert!(exists(&fs, &path).unwrap());
}
