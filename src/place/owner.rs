//! The owner of a lock or a claim: a process on a machine.

use serde::{Deserialize, Serialize};

/// A process. Two processes that run at different times on the same machine differ, even if they have the same process ID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Boot ID and PID namespace of the machine: equal for processes that can see each other. Empty if unknown.
    pub machine: String,
    /// The process ID.
    pub process: u32,
    /// When it was started, in ticks since boot.
    pub started: u64,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let process = std::process::id();
        Self { machine: machine(), process, started: started(process).unwrap_or_default() }
    }

    /// The owner of something that nobody owns any more.
    #[cfg(feature = "cloud")]
    pub fn gone() -> Self {
        Self { machine: String::new(), process: 0, started: 0 }
    }

    /// Whether this is the owner of something that nobody owns any more. No process has the number 0.
    #[cfg(feature = "cloud")]
    pub fn is_gone(&self) -> bool {
        self.process == 0
    }

    /// Whether the process has certainly ended. Only claims on buckets may be of other machines.
    #[cfg(any(feature = "cloud", test))]
    pub fn is_dead(&self) -> bool {
        !self.machine.is_empty() && self.machine == machine() && !self.is_there()
    }

    /// Whether the process certainly runs. One that is not visible from here may run, too.
    pub fn is_alive(&self) -> bool {
        self.machine == machine() && self.is_there()
    }

    /// Whether this machine has the process now.
    fn is_there(&self) -> bool {
        started(self.process) == Some(self.started)
    }
}

/// Returns the boot ID and the PID namespace of this process; empty if they cannot be read.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let space = std::fs::read_link("/proc/self/ns/pid");
    match (boot, space) {
        (Ok(boot), Ok(space)) => format!("{} {}", boot.trim(), space.display()),
        _ => String::new(),
    }
}

/// When a process was started; `None` if it does not exist. Zombies do not count.
fn started(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program may contain blanks and parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    // Field 22 in proc(5): two fields precede the parenthesis, and one has been read.
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_dead_or_alive_only_if_this_machine_says_so() {
        let this = Owner::this();
        assert!(this.started > 0 && !this.is_dead() && this.is_alive());
        let other = Owner { started: this.started + 1, ..this.clone() };
        assert!(other.is_dead() && !other.is_alive(), "another process with the number");
        let elsewhere = Owner { machine: "elsewhere".into(), ..this.clone() };
        assert!(!elsewhere.is_dead() && !elsewhere.is_alive());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let of_child = Owner { process: child.id(), started: started(child.id()).unwrap(), ..this };
        assert!(!of_child.is_dead() && of_child.is_alive());
        child.kill().unwrap();
        let _ = child.wait();
        assert!(of_child.is_dead() && !of_child.is_alive());
    }
}
