//! TLS: the cryptography of connections.

/// Chooses that of ring, unless the program that uses the library has chosen already. Without a choice, reqwest panics when it
/// makes a client.
pub fn choose_cryptography() {
    // An error means that there is a choice.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
