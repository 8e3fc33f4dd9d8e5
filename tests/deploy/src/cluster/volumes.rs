//! The volumes of a pod, as folders of this machine.

use super::{
    objects::{Content, Objects},
    spec::{Item, PodSpec, Projected, Projection, Source, Volume},
};
use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
};

/// What is seen where in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) source: PathBuf,
    pub(super) target: String,
    pub(super) read_only: bool,
}

/// Files of a secret or a config map: path, content and mode.
type Files = BTreeMap<String, (Vec<u8>, u32)>;

/// Where the volumes of a pod are.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// What ends with the pod.
    pub(super) pod: PathBuf,
    /// What outlives it, a folder for each claim.
    pub(super) claims: PathBuf,
    /// Volumes of a StatefulSet's own claims, with the claims' names.
    pub(super) own_claims: BTreeMap<String, String>,
}

impl Places {
    /// Makes the volumes of a pod, and says where its container sees them.
    pub(super) fn mounts(&self, spec: &PodSpec, objects: &Objects) -> io::Result<Vec<Mount>> {
        let group = spec.security_context.fs_group;
        let mut folders = BTreeMap::new();
        for volume in &spec.volumes {
            folders.insert(volume.name.clone(), self.make(volume, objects, group)?);
        }
        for (volume, claim) in &self.own_claims {
            folders.insert(volume.clone(), (writable(self.claims.join(claim), 0o755, group)?, false));
        }
        let mounts = spec.container().volume_mounts.iter().map(|mount| {
            let Some((folder, read_only)) = folders.get(&mount.name) else {
                panic!("{}: there is no volume {}", mount.mount_path, mount.name)
            };
            Mount {
                source: mount.sub_path.as_ref().map_or_else(|| folder.clone(), |path| folder.join(path)),
                target: mount.mount_path.clone(),
                read_only: mount.read_only || *read_only,
            }
        });
        Ok(mounts.collect())
    }

    /// Writes what is in config maps and secrets again, as kubelet does some time after they changed.
    pub(super) fn refresh(&self, spec: &PodSpec, objects: &Objects) -> io::Result<()> {
        for volume in spec.volumes.iter().filter(|volume| volume.empty_dir.is_none()) {
            self.make(volume, objects, spec.security_context.fs_group)?;
        }
        Ok(())
    }

    /// A volume's folder, and whether nobody may write there.
    fn make(&self, volume: &Volume, objects: &Objects, group: Option<u32>) -> io::Result<(PathBuf, bool)> {
        let folder = self.pod.join("volumes").join(&volume.name);
        if let Some(claim) = &volume.persistent_volume_claim {
            return Ok((writable(self.claims.join(&claim.claim_name), 0o755, group)?, claim.read_only));
        }
        if volume.empty_dir.is_some() {
            return Ok((writable(folder, 0o777, group)?, false));
        }
        project(&folder, &files(volume, objects), group)?;
        Ok((folder, true))
    }
}

fn files(volume: &Volume, objects: &Objects) -> Files {
    let map = |projection: &Projection, mode| select(projection, &objects.config_maps, mode);
    let secret = |projection: &Projection, mode| select(projection, &objects.secrets, mode);
    match (&volume.config_map, &volume.secret, &volume.projected) {
        (Some(projection), None, None) => map(projection, projection.default_mode),
        (None, Some(projection), None) => secret(projection, projection.default_mode),
        (None, None, Some(Projected { sources, default_mode })) => {
            let each = sources.iter().map(|source| match source {
                Source::ConfigMap(projection) => map(projection, *default_mode),
                Source::Secret(projection) => secret(projection, *default_mode),
            });
            each.flatten().collect()
        }
        _ => panic!("the volume {} is of no kind, or of several", volume.name),
    }
}

fn select(projection: &Projection, all: &BTreeMap<String, Content>, mode: Option<u32>) -> Files {
    let mode = mode.unwrap_or(0o644);
    let Some(content) = all.get(&projection.name) else {
        assert!(projection.optional, "a volume is made of {}, which is not there", projection.name);
        return Files::new();
    };
    if projection.items.is_empty() {
        return content.iter().map(|(key, value)| (key.clone(), (value.clone(), mode))).collect();
    }
    let file = |item: &Item| match content.get(&item.key) {
        Some(value) => Some((item.path.clone(), (value.clone(), item.mode.unwrap_or(mode)))),
        None if projection.optional => None,
        None => panic!("a volume is made of {}, in which there is no {}", projection.name, item.key),
    };
    projection.items.iter().filter_map(file).collect()
}

/// Writes files and brings them in at once, as kubelet does: what is seen are links through `..data`, which is
/// replaced.
fn project(folder: &Path, files: &Files, group: Option<u32>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let versions = fs::read_dir(folder)?.count();
    let version = format!("..version-{versions}");
    let new = folder.join(&version);
    owned_folder(&new, 0o755, group)?;
    for (path, (content, mode)) in files {
        let file = new.join(path);
        for parent in Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            owned_folder(&new.join(parent), 0o755, group)?;
        }
        fs::write(&file, content)?;
        chown(&file, None, group)?;
        let readable = if group.is_some() { 0o440 } else { 0 };
        fs::set_permissions(&file, Permissions::from_mode(mode | readable))?;
        let first = path.split('/').next().unwrap_or(path);
        let link = folder.join(first);
        if link.symlink_metadata().is_err() {
            symlink(Path::new("..data").join(first), link)?;
        }
    }
    let next = folder.join("..data_tmp");
    symlink(version, &next)?;
    fs::rename(next, folder.join("..data"))
}

/// A folder that a pod's group may write to, and without one whoever its mode lets.
fn writable(folder: PathBuf, mode: u32, group: Option<u32>) -> io::Result<PathBuf> {
    let mode = if group.is_some() { mode | 0o2770 } else { mode };
    owned_folder(&folder, mode, group)?;
    Ok(folder)
}

fn owned_folder(folder: &Path, mode: u32, group: Option<u32>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    chown(folder, None, group)?;
    fs::set_permissions(folder, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_content_is_seen_at_the_same_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = |text: &str| Files::from([("keys/tls.key".to_owned(), (text.as_bytes().to_vec(), 0o400))]);
        let seen = || fs::read_to_string(folder.path().join("keys/tls.key")).unwrap();
        project(folder.path(), &file("old"), None).unwrap();
        assert_eq!(seen(), "old");
        project(folder.path(), &file("new"), None).unwrap();
        assert_eq!(seen(), "new");
        let mode = fs::metadata(folder.path().join("keys/tls.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o400);
    }
}
