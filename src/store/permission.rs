//! Permissions, as the stores name them.

use super::location::Scheme;

/// What a request does with objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads an object, or looks it up.
    Read,
    /// Lists objects.
    List,
    /// Removes objects.
    Remove,
}

impl Access {
    /// The permission that it needs in a store of the kind `scheme`; `None` for web servers.
    pub fn permission(self, scheme: Scheme) -> Option<&'static str> {
        Some(match (scheme, self) {
            (Scheme::Http, _) => return None,
            // A role that may not list objects is not told that there is no such object.
            (Scheme::S3, Self::Read) => "s3:GetObject, or s3:ListBucket if there is no such object",
            (Scheme::S3, Self::List) => "s3:ListBucket",
            (Scheme::S3, Self::Remove) => "s3:DeleteObject",
            (Scheme::Gs, Self::Read) => {
                "storage.objects.get, or storage.objects.list if there is no such object"
            }
            (Scheme::Gs, Self::List) => "storage.objects.list",
            (Scheme::Gs, Self::Remove) => "storage.objects.delete",
            (Scheme::Az, Self::Read | Self::List) => {
                "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"
            }
            (Scheme::Az, Self::Remove) => {
                "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete"
            }
        })
    }
}
