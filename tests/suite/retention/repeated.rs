//! Sets with the same files as their successors: they do not take the place of those that a rollback can restore.

use super::*;

#[test]
fn sets_with_the_same_files_count_once_so_that_a_rollback_finds_an_earlier_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let keep = ["--keep-sets", "1"];
    for (set, page) in (0..).zip([1, 1, 2, 3, 3, 3, 3]) {
        build(&out, 100 * set, &[page], &keep).expect(0);
    }
    // Set 6 was replaced just now, and set 3 is the last one with other files.
    assert_eq!((live(&out), numbers(&out)), (vec![3], vec![7, 6, 3]));
    rollback(&out, &[]).expect(0);
    assert_eq!(live(&out), [2]);
    // The set that was rolled back counts, too.
    build(&out, 800, &[2], &keep).expect(0);
    build(&out, 900, &[2], &keep).expect(0);
    assert_eq!((live(&out), numbers(&out)), (vec![2], vec![9, 8, 7]));
}
