//! One system.

use crate::{
    Fit, Folder, Kind, Part, Ports, Purpose, Secrets, certificates::Generation, engines::postgres, folder,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The first port; 0 takes free ones.
    pub base_port: u16,
    /// Whether roles speak TLS with each other.
    pub mtls: bool,
    /// Laid over the configuration of every role.
    pub overlay: Value,
}

impl Default for Shape {
    fn default() -> Self {
        Self { base_port: crate::ports::USUAL_BASE, mtls: true, overlay: Value::Null }
    }
}

/// A system: all that it is follows from what it keeps in `stack.json`.
#[derive(Debug, Clone)]
pub struct Stack {
    folder: Folder,
    facts: Facts,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Facts {
    ports: Ports,
    mtls: bool,
    #[serde(default)]
    overlay: Value,
    /// What is different for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fit: Option<Fit>,
    /// Where Signalbox's programs are.
    programs: PathBuf,
    /// Where PostgreSQL's files are.
    postgres: PathBuf,
    secrets: Secrets,
    /// The key of the tenant to try things with.
    key: Option<String>,
}

impl Stack {
    /// A new one. Nothing is written yet.
    pub(crate) fn plan(folder: Folder, shape: Shape) -> Result<Self, String> {
        let ports = Ports::from(shape.base_port)?;
        let taken = ports.taken(Part::all());
        if !taken.is_empty() {
            let taken = taken.join(", ");
            return Err(format!("taken by other programs: {taken}; end them, or give another --base-port"));
        }
        let program = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
        let facts = Facts {
            ports,
            mtls: shape.mtls,
            overlay: shape.overlay,
            fit: None,
            programs: program.parent().unwrap_or(&program).to_owned(),
            postgres: postgres::home(&folder),
            secrets: Secrets::draw(),
            key: None,
        };
        Ok(Self { folder, facts })
    }

    /// Makes what it needs and lacks, whenever it was interrupted.
    pub(crate) fn make(&self) -> Result<(), String> {
        self.folder.furnish()?;
        postgres::make_home(self)?;
        if self.mtls() && !Generation::is_in(&self.folder) {
            Generation::issue().put(&self.folder)?;
        }
        Ok(())
    }

    /// The one in a folder, if there is any.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load(folder: &Folder) -> Result<Option<Self>, String> {
        let path = folder.stack();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(folder::told(&path))?,
        };
        let facts = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            format!("{path} is damaged ({error}): `make down` ends what runs and removes all, then `make up` again")
        })?;
        Ok(Some(Self { folder: folder.clone(), facts }))
    }

    pub(crate) fn save(&self) -> Result<(), String> {
        let text = serde_json::to_string_pretty(&self.facts).map_err(|error| error.to_string())?;
        folder::write(&self.folder.stack(), &text)
    }

    /// Where everything lies.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Where PostgreSQL's files are: in the folder too, unless whoever runs PostgreSQL cannot get there.
    pub(crate) fn postgres(&self) -> &Path {
        &self.facts.postgres
    }

    /// Where each process listens.
    pub fn ports(&self) -> Ports {
        self.facts.ports
    }

    /// Whether roles speak TLS with each other.
    pub fn mtls(&self) -> bool {
        self.facts.mtls
    }

    /// Laid over the configuration of every role; null for nothing.
    pub(crate) fn overlay(&self) -> &Value {
        &self.facts.overlay
    }

    /// What is different for a while.
    pub(crate) fn fit(&self) -> Option<&Fit> {
        self.facts.fit.as_ref()
    }

    pub(crate) fn set_fit(&mut self, fit: Option<Fit>) -> Result<(), String> {
        self.facts.fit = fit;
        self.save()
    }

    /// What nobody else may know.
    pub fn secrets(&self) -> &Secrets {
        &self.facts.secrets
    }

    /// A program of Signalbox.
    pub fn program(&self, name: &str) -> PathBuf {
        self.facts.programs.join(name)
    }

    /// The key of the tenant to try things with.
    pub fn key(&self) -> Option<&str> {
        self.facts.key.as_deref()
    }

    pub(crate) fn set_key(&mut self, key: String) -> Result<(), String> {
        self.facts.key = Some(key);
        self.save()
    }

    /// Where clients and operators reach the processes of a kind.
    pub fn urls(&self, kind: Kind) -> Vec<String> {
        let scheme = if kind == Kind::Nats { "nats" } else { "http" };
        let address = |part| self.ports().address(part, Purpose::Clients);
        kind.parts().map(|part| format!("{scheme}://{}", address(part))).collect()
    }
}
