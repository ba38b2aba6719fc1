//! AWS profiles: the files that `aws configure` writes.

use std::path::{Path, PathBuf};

use configparser::ini::Ini;

use super::variables::variable;
use crate::error::{Error, ErrorKind, Result, message};

/// The values of a profile that sitemill uses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Profile {
    pub key_id: Option<String>,
    pub secret: Option<String>,
    pub token: Option<String>,
    pub region: Option<String>,
    pub endpoint: Option<String>,
    /// The name of its section with settings of single services, if that has any for S3, such as an endpoint. sitemill does not
    /// read them.
    pub services: Option<String>,
    /// The file that contains the key.
    pub file: PathBuf,
}

/// Profile settings for sources of credentials that sitemill does not support.
const OTHER_WAYS: [&str; 4] = ["credential_process", "sso_session", "sso_start_url", "role_arn"];

impl Profile {
    /// Reads the profile named by `AWS_PROFILE` or `AWS_DEFAULT_PROFILE`, or the default profile. The latter may be missing; it is
    /// empty then.
    ///
    /// # Errors
    /// [`ErrorKind::Permission`] if a named profile does not exist, the profile gets its credentials in a way that sitemill does
    /// not support, or a file is invalid.
    pub fn of_environment() -> Result<Self> {
        let (name, [credentials, config]) = named();
        Self::read(&name.clone().unwrap_or("default".into()), name.is_some(), &credentials, &config)
    }

    /// The region and the endpoint of the same profile, for keys that come from elsewhere. They apply even if the profile has no
    /// key that sitemill can use, and a profile that cannot be read has none.
    pub fn without_key() -> Self {
        let (name, [credentials, config]) = named();
        let name = name.unwrap_or("default".into());
        let section = section(&name);
        let files = [(load(&credentials), name), (load(&config), section)];
        let value = |key: &str| files.iter().find_map(|(ini, section)| ini.as_ref().ok()?.get(section, key));
        let services = files[1].0.as_ref().ok().and_then(|ini| services(ini, &files[1].1));
        Self { region: value("region"), endpoint: value("endpoint_url"), services, ..Self::default() }
    }

    fn read(name: &str, is_named: bool, credentials: &Path, config: &Path) -> Result<Self> {
        let (of_credentials, of_config) = (load(credentials)?, load(config)?);
        let section = section(name);
        let has = |ini: &Ini, section: &str| ini.get_map_ref().contains_key(section);
        if is_named && !has(&of_credentials, name) && !has(&of_config, &section) {
            let words = message!("there is no AWS profile {name} in ", credentials, " or ", config);
            return Err(Error::new(ErrorKind::Permission, words));
        }
        let value = |key: &str| of_credentials.get(name, key).or_else(|| of_config.get(&section, key));
        let (key_id, secret) = (value("aws_access_key_id"), value("aws_secret_access_key"));
        if key_id.is_none()
            && let Some(way) = OTHER_WAYS.iter().find(|way| value(way).is_some())
        {
            let words = message!(
                "the AWS profile {name} gets its credentials from {way}, which sitemill does not support; put the credentials that \
                 aws configure export-credentials prints into the environment"
            );
            return Err(Error::new(ErrorKind::Permission, words));
        }
        if key_id.is_some() != secret.is_some() {
            let halves = ["aws_access_key_id", "aws_secret_access_key"];
            let [set, missing] = if key_id.is_some() { halves } else { [halves[1], halves[0]] };
            let words = format!("the AWS profile {name} has {set}, but not {missing}; set both or none");
            return Err(Error::new(ErrorKind::Permission, words));
        }
        let file = if of_credentials.get(name, "aws_access_key_id").is_some() { credentials } else { config };
        Ok(Self {
            key_id,
            secret,
            token: value("aws_session_token"),
            region: value("region"),
            endpoint: value("endpoint_url"),
            services: services(&of_config, &section),
            file: file.into(),
        })
    }
}

/// The name of the profile, if the environment has one, and the files with credentials and with other settings.
fn named() -> (Option<String>, [PathBuf; 2]) {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    // A service file or a quoted word leaves the tilde to the reader.
    let expanded =
        |path: String| path.strip_prefix("~/").map_or_else(|| (&path).into(), |rest| home.join(rest));
    let file = |name: &str, default: &str| variable(name).map_or_else(|| home.join(default), expanded);
    let files =
        [file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"), file("AWS_CONFIG_FILE", ".aws/config")];
    (variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE")), files)
}

/// The section with settings for S3 of the profile in `section`: itself if it has a nested endpoint, or its `services` section.
fn services(config: &Ini, section: &str) -> Option<String> {
    if config.get(section, "s3.endpoint_url").is_some() {
        return Some(section.into());
    }
    let name = format!("services {}", config.get(section, "services")?);
    config.get_map_ref().get(&name)?.contains_key("s3").then_some(name)
}

/// The section of a profile in the file of other settings.
fn section(name: &str) -> String {
    if name == "default" { name.to_owned() } else { format!("profile {name}") }
}

/// Loads the sections of a file. A file that cannot be read has none.
fn load(path: &Path) -> Result<Ini> {
    let mut ini = Ini::new_cs();
    // A key may contain the characters that begin comments in other files.
    ini.set_inline_comment_symbols(Some(&[]));
    match std::fs::read_to_string(path) {
        Ok(text) => match ini.read(flat(&text)) {
            Ok(_) => {
                // The AWS tools read keys in any case, but not names of profiles.
                for section in ini.get_mut_map().values_mut() {
                    let spellings = section.len();
                    *section =
                        section.drain().map(|(key, value)| (key.to_ascii_lowercase(), value)).collect();
                    if section.len() < spellings {
                        let words = message!(path, ": has a key in two spellings in one section; remove one");
                        return Err(Error::new(ErrorKind::Permission, words));
                    }
                }
                Ok(ini)
            }
            // The library's message repeats the line, which may contain a key.
            Err(_) => Err(Error::new(ErrorKind::Permission, message!(path, ": is not an AWS profile file"))),
        },
        Err(_) => Ok(ini),
    }
}

/// The `text` of a file in which nested settings have the names of all levels, as `s3.endpoint_url`: they are indented below a
/// setting without a value, and apply to a single service.
fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut above: Option<(usize, &str)> = None;
    for line in text.lines() {
        let setting = line.trim();
        let indent = line.len() - line.trim_start().len();
        let is_setting = !setting.is_empty() && !setting.starts_with(['#', ';']);
        match above {
            Some((outer, name)) if is_setting && indent > outer => {
                flat.push_str(name);
                flat.push('.');
                flat.push_str(setting);
            }
            _ => {
                if is_setting {
                    above = setting.strip_suffix('=').map(|name| (indent, name.trim_end()));
                }
                flat.push_str(line);
            }
        }
        flat.push('\n');
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_settings_are_not_those_of_the_profile() {
        let text = "[default]\r\nregion = eu-west-1\ns3 =\r\n\n  # nested\n    endpoint_url = http://h:2\nsts=\n\tregion = us-gov-1\n\
                    \n[profile a]\n  dynamodb =\n    endpoint_url = http://h:1\n  endpoint_url = http://h:3\n  output =\n[b]\nregion = x\n";
        let mut ini = Ini::new_cs();
        ini.read(flat(text)).unwrap();
        let value = |section: &str, name: &str| ini.get(section, name).unwrap_or_default();
        assert_eq!(value("default", "region"), "eu-west-1");
        assert_eq!(value("default", "endpoint_url"), "");
        assert_eq!(value("default", "s3.endpoint_url"), "http://h:2");
        assert_eq!(value("profile a", "endpoint_url"), "http://h:3");
        assert_eq!(value("b", "region"), "x");
        assert_eq!(services(&ini, "default").as_deref(), Some("default"));
        assert_eq!(services(&ini, "profile a"), None);
    }

    #[test]
    fn a_profile_has_its_key_in_one_file_and_its_region_in_the_other() {
        let directory = std::env::temp_dir().join(format!("sitemill-profile-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (credentials, config) = (directory.join("credentials"), directory.join("config"));
        let key = "[default]\naws_access_key_id = A\naws_secret_access_key = s/=+c#x\n[Night]\nAWS_ACCESS_KEY_ID=B\naws_secret_access_key=t\n";
        std::fs::write(&credentials, key).unwrap();
        let rest = "[default]\nregion = eu-west-1\n[profile Night]\nendpoint_url = http://h:1\n[profile sso]\nsso_session = x\n\
                    [profile half]\naws_access_key_id = C\n[profile local]\nservices = here\n[services here]\ns3 =\n  endpoint_url = http://h:2\n";
        std::fs::write(&config, rest).unwrap();
        let read = |name: &str, is_named| Profile::read(name, is_named, &credentials, &config);
        let default = read("default", false).unwrap();
        assert_eq!((default.key_id.as_deref(), default.secret.as_deref()), (Some("A"), Some("s/=+c#x")));
        assert_eq!(default.region.as_deref(), Some("eu-west-1"));
        let night = read("Night", true).unwrap();
        assert_eq!((night.key_id.as_deref(), night.endpoint.as_deref()), (Some("B"), Some("http://h:1")));
        assert!(read("sso", true).unwrap_err().to_string().contains("aws configure export-credentials"));
        assert!(read("half", true).unwrap_err().to_string().ends_with(
            "the AWS profile half has aws_access_key_id, but not aws_secret_access_key; set both or none"
        ));
        assert_eq!(
            (night.services, read("local", true).unwrap().services),
            (None, Some("services here".into()))
        );
        assert!(read("gone", true).unwrap_err().to_string().contains("there is no AWS profile gone"));
        let nothing = Profile::read("default", false, Path::new("/nowhere/a"), Path::new("/nowhere/b"));
        assert_eq!(nothing.unwrap().key_id, None);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
