//! One bridge, and a network of its own for each pod.

use std::{net::Ipv4Addr, process::Stdio};
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
};

/// The machine's side of the bridge, where names are looked up.
pub(super) const NODE: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 1);

/// Addresses of services and of what is outside of the cluster are all the machine's own. A bridge without a hardware
/// address of its own takes another whenever a pod comes, and those that know the old one are cut off for half a minute.
const BRIDGE: &str = "
ip link set lo up
ip link add pods address 02:00:00:00:00:01 type bridge
ip addr add 10.244.0.1/16 dev pods
ip link set pods up
ip route add local 10.96.0.0/16 dev lo
";

const POD: &str = "
ip link add pod$1 type veth peer name eth0 netns $2
ip link set pod$1 master pods up
exec nsenter --target $2 --net sh -euc '
ip addr add $0/16 dev eth0
ip link set lo up
ip link set eth0 up
ip route add default via 10.244.0.1
' $3
";

/// Makes the bridge.
pub(super) async fn bridge() {
    run(BRIDGE, &[]).await;
}

/// The address of a service, or of something outside, by its number.
pub(super) fn service_address(number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number + 10).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(10, 96, high, low)
}

/// A pod's network, held by a process that does nothing else, as a pause container is. Gone when dropped.
#[derive(Debug)]
pub(super) struct PodNetwork {
    pause: Child,
    pub(super) address: Ipv4Addr,
}

impl PodNetwork {
    /// Makes one, of a number that no other has.
    pub(super) async fn new(number: u16) -> Self {
        let [high, low] = (number + 2).to_be_bytes();
        let address = Ipv4Addr::new(10, 244, high, low);
        let mut pause = Command::new("unshare");
        pause.args(["--net", "sh", "-c", "echo; exec sleep infinity"]);
        pause.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut pause = pause.spawn().unwrap_or_else(|error| panic!("unshare: {error}"));
        if let Some(mut output) = pause.stdout.take() {
            let said = output.read_u8().await;
            said.unwrap_or_else(|error| panic!("there is no network for a pod: {error}"));
        }
        let network = Self { pause, address };
        run(POD, &[&number.to_string(), &network.pid(), &address.to_string()]).await;
        network
    }

    /// Who holds it.
    pub(super) fn pid(&self) -> String {
        self.pause.id().unwrap_or_default().to_string()
    }
}

async fn run(script: &str, arguments: &[&str]) {
    let mut command = Command::new("sh");
    command.args(["-euc", script, "sh"]).args(arguments).stdin(Stdio::null());
    let output = command.output().await.unwrap_or_else(|error| panic!("sh: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the network cannot be made (`ip` is of iproute2): {said}");
}
