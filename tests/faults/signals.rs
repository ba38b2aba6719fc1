//! Signals to runs that are busy, that publish, or that wait.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use serde_json::Value;

use crate::support::{finish, heeding_signals, send, sitemill, started_by, wait_until_staging};
use crate::world::{BASE, World, copy, fifo, injected, pages, skip_unless_root, wait_until};

/// Sends `signal` to `child` and returns its exit status. Fails if it takes more than two seconds to exit.
#[track_caller]
fn ended_by(signal: &str, child: &mut Child) -> ExitStatus {
    send(signal, child);
    soon_ended(child)
}

/// Returns the exit status of `child`. Fails if it takes more than two seconds to exit.
#[track_caller]
fn soon_ended(child: &mut Child) -> ExitStatus {
    let asked = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if asked.elapsed() > Duration::from_secs(2) {
            child.kill().unwrap();
            panic!("still running after two seconds");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_signal_ends_a_busy_run_within_two_seconds() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 3_000_000));
    for (signal, exit) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        for order in ["input", "sorted"] {
            let mut build = world.build_large();
            let build = build.args(["--order", order, "--threads", "1", "--level", "9"]).arg(&input);
            let mut busy = heeding_signals(build).stderr(Stdio::piped()).spawn().unwrap();
            let maps = format!("/proc/{}/maps", busy.id());
            wait_until(|| fs::read_to_string(&maps).unwrap().contains("urls.txt"));
            assert_eq!(ended_by(signal, &mut busy).code(), Some(exit), "{signal}");
            world.assert_old();
        }
    }
}

#[test]
fn a_signal_ends_a_run_that_starts_a_thousand_threads_within_two_seconds() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 3_000_000));
    for order in ["input", "sorted"] {
        let mut build = world.build_large();
        build.args(["--order", order, "--threads", "1024", "--memory", "64GiB"]).arg(&input);
        let mut busy = heeding_signals(&build).stderr(Stdio::piped()).spawn().unwrap();
        let threads = format!("/proc/{}/task", busy.id());
        wait_until(|| fs::read_dir(&threads).unwrap().count() > 16);
        assert_eq!(ended_by("TERM", &mut busy).code(), Some(143), "{order}");
        world.assert_old();
    }
}

#[test]
fn a_signal_at_any_point_of_a_run_ends_it_within_two_seconds_with_the_old_set_or_the_new_one() {
    let world = World::new();
    let before = world.copied();
    let all = world.directory.file("urls.txt", pages(1, 400_000));
    let some = world.directory.file("some.txt", pages(1, 20_000));
    for (options, input, last) in [
        (&["--order", "input"][..], &all, 400_000),
        (&["--order", "sorted"], &all, 400_000),
        (&["--divide", "stable"], &all, 400_000),
        (&["--urls-per-sitemap", "10", "--sitemaps-per-index", "500"], &some, 20_000),
    ] {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--base-url", BASE]).args(options).arg("--out");
        let mut build = heeding_signals(build.arg(&world.out).arg(input));
        build.stderr(Stdio::null());
        copy(&before, &world.out);
        let begun = Instant::now();
        assert_eq!(build.status().unwrap().code(), Some(0), "{options:?}");
        let whole = begun.elapsed();
        world.assert_new(1, last);
        let mut stopped = 0;
        for part in 1..12 {
            copy(&before, &world.out);
            let mut busy = build.spawn().unwrap();
            thread::sleep(whole * part / 12);
            let status = ended_by("TERM", &mut busy);
            match status.code().or(status.signal().map(|signal| 128 + signal)) {
                Some(0) => world.assert_new(1, last),
                exit => {
                    assert_eq!(exit, Some(143), "{options:?}, {part}");
                    world.assert_old();
                    stopped += 1;
                }
            }
        }
        assert!(stopped > 0, "{options:?}");
    }
}

#[test]
fn a_signal_ends_the_wait_for_the_reader_of_a_fifo() {
    let world = World::new();
    let input = world.directory.file("urls.txt", "bad\n".repeat(50_000) + &pages(1, 5_000));
    let fifo = fifo(&world.directory, "told.fifo");
    let told = |option: &str| {
        let mut build = world.build_large();
        heeding_signals(build.arg(option).arg(&fifo).arg(&input)).stderr(Stdio::piped()).spawn().unwrap()
    };
    for option in ["--rejects", "--diff"] {
        // Nobody opens the FIFO.
        let mut waiting = told(option);
        let status = format!("/proc/{}/status", waiting.id());
        wait_until(|| catches(&fs::read_to_string(&status).unwrap(), 15));
        assert_eq!(ended_by("TERM", &mut waiting).code(), Some(143), "{option}");
        world.assert_old();
        // A reader opens it and reads only the beginning.
        let mut waiting = told(option);
        let mut reader = File::open(&fifo).unwrap();
        reader.read_exact(&mut [0]).unwrap();
        let ended = ended_by("TERM", &mut waiting).code();
        match option {
            "--rejects" => {
                assert_eq!(ended, Some(143));
                world.assert_old();
            }
            _ => {
                assert_eq!(ended, Some(0));
                let mut words = String::new();
                waiting.stderr.take().unwrap().read_to_string(&mut words).unwrap();
                let told =
                    format!("warning: --diff {} is incomplete: interrupted by a signal", fifo.display());
                assert!(words.contains(&told), "{words}");
                world.assert_new(1, 5_000);
            }
        }
    }
}

/// Whether a process catches `signal`, according to its `/proc` status.
fn catches(status: &str, signal: u32) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|caught| u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (signal - 1) != 0)
}

#[test]
fn a_run_waits_for_the_writer_of_a_fifo_until_a_signal_arrives() {
    let world = World::new();
    let fifo = fifo(&world.directory, "urls.fifo");
    let waiting = || {
        let waiting = heeding_signals(world.build().arg(&fifo)).stderr(Stdio::piped()).spawn().unwrap();
        wait_until_staging(&world.out);
        waiting
    };
    let mut stopped = waiting();
    send("TERM", &stopped);
    assert_eq!(stopped.wait().unwrap().code(), Some(143));
    world.assert_old();

    let mut served = waiting();
    let mut writer = File::options().write(true).open(&fifo).unwrap();
    writer.write_all(pages(1, 70).as_bytes()).unwrap();
    drop(writer);
    assert_eq!(served.wait().unwrap().code(), Some(0));
    world.assert_new(1, 70);
}

#[test]
fn a_command_waits_for_the_writer_of_a_file_of_rules_until_a_signal_arrives() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let fifo = fifo(&world.directory, "rules.fifo");
    let build = |option: &str| {
        let mut build = world.build();
        build.arg(option).arg(&fifo).arg(&input);
        build
    };
    let mut report = sitemill();
    report.arg("report").arg(&fifo).arg("--output").arg(world.directory.join("page.html"));
    let options = ["--include-file", "--exclude-file", "--sections", "--respect-robots"];
    for command in options.map(build).into_iter().chain([report]) {
        let mut waiting = heeding_signals(&command).stderr(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", waiting.id());
        wait_until(|| catches(&fs::read_to_string(&status).unwrap(), 15));
        assert_eq!(ended_by("TERM", &mut waiting).code(), Some(143), "{command:?}");
        world.assert_old();
    }
}

#[test]
fn a_signal_that_arrives_while_handlers_are_installed_is_not_lost() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let mut build = world.build();
    build.arg(&input);
    let heeding = heeding_signals(&build);
    for nth in 1.. {
        let fault = format!("signal=SIGTERM:when={nth}");
        let (run, hit) = injected(&world.directory, "rt_sigaction", &fault, &heeding);
        if !hit {
            run.expect(0);
            assert!(nth > 6, "{nth}");
            break;
        }
        assert_eq!(run.exit, 143, "at {nth}");
        world.assert_old();
    }
}

#[test]
fn a_signal_during_publishing_does_not_interrupt_it() {
    let world = World::in_memory();
    let [first, second] = ["first", "second"].map(|name| world.directory.join(name));
    copy(&world.out, &first);
    let input = world.directory.file("urls.txt", pages(1, 90));
    let mut build = world.build();
    build.args(["--threads", "1"]).arg(&input);
    finish(&mut build, b"").expect(0);
    copy(&world.out, &second);
    let mut rollback = sitemill();
    rollback.args(["rollback", "--quiet", "--out"]).arg(&world.out);
    for (command, before, old, new) in [(&build, &first, 60, 90), (&rollback, &second, 90, 60)] {
        let mut ends = [0, 0];
        for call in ["linkat", "rename", "fsync"] {
            for nth in 1.. {
                copy(before, &world.out);
                let fault = format!("signal=SIGTERM:when={nth}");
                let (run, hit) = injected(&world.directory, call, &fault, command);
                let is_new = run.exit == 0;
                if !is_new {
                    let told = run.expect(143).stderr;
                    assert_eq!(told, "interrupted; nothing was published\n");
                }
                world.assert_new(1, if is_new { new } else { old });
                if !hit {
                    break;
                }
                ends[usize::from(is_new)] += 1;
            }
        }
        assert!(ends[0] > 0 && ends[1] > 5, "{ends:?}");
    }
}

#[test]
fn a_read_only_command_ends_at_a_signal_even_if_nobody_reads_its_output() {
    let world = World::new();
    let before = world.copied();
    let input = world.directory.file("urls.txt", pages(1, 5_000));
    finish(world.build_large().arg(&input), b"").expect(0);
    let (before, out) = (before.to_str().unwrap(), world.out.to_str().unwrap());
    let entries = "<url><loc>http://h.example/1</loc><priority>7</priority></url>\n".repeat(5_000);
    let urlset = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
    let wrong = world.directory.file("wrong.xml", format!("{urlset}{entries}</urlset>"));
    for words in [
        &["urls", out][..],
        &["check", "--limit-findings", "10000", wrong.to_str().unwrap()],
        &["diff", before, out],
    ] {
        let mut command = heeding_signals(sitemill().args(words));
        let mut telling = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // More output follows than a pipe holds.
        telling.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(ended_by("TERM", &mut telling).signal(), Some(15), "{words:?}");
    }
}

#[test]
fn a_run_waits_for_the_reader_of_its_report_until_a_signal_arrives() {
    for option in ["--json", "--report=/dev/stdout"] {
        for is_read in [true, false] {
            let world = World::new();
            let input = world.directory.file("urls.txt", pages(1, 90));
            let metrics = world.directory.join("metrics");
            let (mut unread, pipe, held) = full_pipe();
            let mut build = world.build();
            let build = build.arg(option).arg("--metrics").arg(&metrics).arg(&input);
            let mut telling = heeding_signals(build).stdout(pipe).stderr(Stdio::piped()).spawn().unwrap();
            // Closes this process's write end of the pipe.
            *build = Command::new("true");
            wait_until(|| metrics.exists());
            world.assert_new(1, 90);
            if is_read {
                let mut told = Vec::new();
                unread.read_to_end(&mut told).unwrap();
                let report: Value = serde_json::from_slice(&told[held..]).unwrap();
                assert_eq!(report["listed"], 90);
                assert_eq!(telling.wait().unwrap().code(), Some(0));
            } else {
                assert_eq!(ended_by("TERM", &mut telling).code(), Some(0), "{option}");
                let mut told = String::new();
                telling.stderr.unwrap().read_to_string(&mut told).unwrap();
                assert!(told.contains("the report could not be written: nobody reads it"), "{told}");
            }
        }
    }
}

#[test]
fn a_run_waits_for_the_reader_of_its_messages_until_a_signal_arrives() {
    for (first, exit) in [(1, 0), (200, 65)] {
        let world = World::new();
        let metrics = world.directory.join("metrics");
        let input = world.directory.file("urls.txt", pages(first, 200));
        let (_unread, pipe, _) = full_pipe();
        let mut build = world.build();
        build.arg("--metrics").arg(&metrics).arg(&input).arg("--then=false");
        let mut telling = heeding_signals(&build).stderr(pipe).spawn().unwrap();
        // The summary or the error follows.
        wait_until(|| metrics.exists());
        assert_eq!(ended_by("TERM", &mut telling).code(), Some(exit));
    }
}

#[test]
fn a_run_waits_for_the_lock_of_a_robots_txt_until_a_signal_arrives() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let robots = world.directory.file("robots.txt", "Allow: /\n");
    let held = File::open(&robots).unwrap();
    let mut build = world.build();
    build.arg("--robots").arg(&robots).arg(&input);
    let mut rollback = sitemill();
    rollback.args(["rollback", "--robots"]).arg(&robots).arg(&world.out);
    for (command, last) in [(&build, 90), (&rollback, 60)] {
        held.lock().unwrap();
        let live = fs::read(world.out.join(".sitemill/manifest.json")).unwrap();
        let mut waiting = heeding_signals(command).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(|| fs::read(world.out.join(".sitemill/manifest.json")).unwrap() != live);
        assert_eq!(ended_by("TERM", &mut waiting).code(), Some(0));
        let mut told = String::new();
        waiting.stderr.unwrap().read_to_string(&mut told).unwrap();
        let words = "robots.txt: the wait for another process that holds its lock was interrupted; it was left unchanged";
        assert!(told.contains(words), "{told}");
        world.assert_new(1, last);
        assert_eq!(fs::read(&robots).unwrap(), b"Allow: /\n");
    }
}

#[test]
fn a_signal_ends_a_command_that_is_process_1_of_a_container() {
    let first = ["unshare", "--pid", "--fork", "--kill-child"];
    if skip_unless_root("a namespace of processes") {
        return;
    }
    for (signal, exit) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let clean = heeding_signals(sitemill().arg("clean"));
        let mut waiting =
            started_by(&first, &clean).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let children = format!("/proc/{0}/task/{0}/children", waiting.id());
        let child = || fs::read_to_string(&children).unwrap().trim().to_owned();
        // The handler of SIGXFSZ is installed after those.
        wait_until(|| {
            fs::read_to_string(format!("/proc/{}/status", child())).is_ok_and(|status| catches(&status, 25))
        });
        finish(Command::new("kill").args(["-s", signal, &child()]), b"").expect(0);
        assert_eq!(soon_ended(&mut waiting).code(), Some(exit), "{signal}");
    }
}

/// A full pipe, and the number of bytes in it.
fn full_pipe() -> (PipeReader, PipeWriter, usize) {
    let (unread, mut pipe) = io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK).unwrap();
    let mut held = 0;
    while let Ok(bytes) = pipe.write(&[b'x'; 4096]) {
        held += bytes;
    }
    rustix::fs::fcntl_setfl(&pipe, OFlags::empty()).unwrap();
    (unread, pipe, held)
}
