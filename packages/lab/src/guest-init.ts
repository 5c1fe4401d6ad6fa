/**
 * The guest's PID 1. It loads the virtio drivers, mounts every virtio disk that has a file system below
 * `/mnt`, obeys cloud-init data that it finds there, takes addresses by DHCP, starts the guest agent,
 * serves its boot ID over HTTP on port 80, counts on the console (`HB n uptime`, ten a second unless the
 * kernel command line has `hb=none`), obeys the power button, and gives a shell on the serial console.
 * `BOOTED` on the console says that all this has been started.
 */
export const guestInit = `#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
ln -s /proc/self/fd /dev/fd 2>/dev/null
for m in $(cat /modules/order); do insmod /modules/$m 2>/dev/null; done
mkdir -p /dev/virtio-ports
for p in /sys/class/virtio-ports/*; do
  [ -f $p/name ] && read n < $p/name && [ -n "$n" ] && ln -sf ../\${p##*/} /dev/virtio-ports/$n
done
echo online > /sys/devices/system/memory/auto_online_blocks 2>/dev/null
hostname guest
ip link set lo up
for d in /dev/vd? /dev/sd? /dev/sr?; do
  [ -e $d ] || continue
  mkdir -p /mnt/\${d##*/}
  mount -t iso9660 -o ro $d /mnt/\${d##*/} 2>/dev/null || mount $d /mnt/\${d##*/} 2>/dev/null
done
for d in /mnt/*; do [ -f $d/user-data ] && [ -f $d/meta-data ] && /etc/cloud-init.sh $d; done
for n in /sys/class/net/*; do
  n=\${n##*/}
  [ $n = lo ] || { ip link set $n up; udhcpc -b -S -t 20 -T 1 -A 1 -i $n -s /etc/dhcp.sh >/dev/null 2>&1; } &
done
acpid -d -l /dev/null -c /etc/acpi >/dev/null 2>&1 &
[ -e /dev/virtio-ports/org.qemu.guest_agent.0 ] &&
  qemu-ga -d -m virtio-serial -p /dev/virtio-ports/org.qemu.guest_agent.0 -t /run -f /run/qga.pid
mkdir -p /www
echo "boot_id=$(cat /proc/sys/kernel/random/boot_id) host=$(hostname)" > /www/index.html
httpd -h /www -p 80
# A vCPU that was plugged in comes offline: nobody else here brings it up.
( while :; do for c in /sys/devices/system/cpu/cpu[1-9]*/online; do
  [ -e $c ] && read s < $c && [ $s = 0 ] && echo 1 > $c 2>/dev/null
done; sleep 1; done ) &
case $(cat /proc/cmdline) in *hb=none*) ;; *)
  ( n=0; while :; do read up x < /proc/uptime; echo "HB $n $up"; n=$((n+1)); usleep 100000; done > /dev/console ) &
esac
echo "BOOTED $(uname -r) boot_id=$(cat /proc/sys/kernel/random/boot_id)"
while :; do setsid sh -c "exec sh -i </dev/ttyS0 >/dev/ttyS0 2>&1"; sleep 1; done
`;

/**
 * What runs on a folder with NoCloud data: as much of cloud-init as a guest without Python can do. It
 * takes the host name of the metadata, runs user data that is a script, and of a `#cloud-config` obeys
 * `hostname`, `ssh_authorized_keys` and the plain commands of `runcmd`.
 */
export const guestCloudInit: string = String.raw`#!/bin/sh
name=$(tr -d '"{},' < $1/meta-data | sed -n 's/.*local-hostname: *\([^ ]*\).*/\1/p')
# The items of one list of the user data, without quotes around them.
items() {
  awk -v key="$1:" '$0 == key { on = 1; next } /^[^ -]/ { on = 0 } on && sub(/^ *- */, "")' $2 |
    sed -e 's/^"\(.*\)"$/\1/' -e "s/^'\(.*\)'$/\1/"
}
case $(head -n 1 $1/user-data) in
'#!'*)
  hostname "$name"
  cp $1/user-data /run/user-data; chmod 755 /run/user-data; /run/user-data ;;
'#cloud-config'*)
  told=$(sed -n 's/^hostname: *//p' $1/user-data | tr -d \"\')
  hostname "$told" || hostname "$name"
  mkdir -p /root/.ssh; items ssh_authorized_keys $1/user-data > /root/.ssh/authorized_keys
  items runcmd $1/user-data > /run/runcmd; sh /run/runcmd ;;
*) hostname "$name" ;;
esac 2>/dev/null
echo "CLOUD-INIT $(hostname)" > /dev/console
`;

/** What runs on a DHCP answer. */
export const guestDhcp = `#!/bin/sh
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip addr flush dev $interface scope global 2>/dev/null
ip addr add $ip/\${mask:-24} dev $interface
for r in $router; do ip route replace default via $r dev $interface; break; done
echo "DHCP $interface $ip" > /dev/console
`;

/** The agent and the power button both call this. */
export const guestShutdown = `#!/bin/sh
echo "SHUTDOWN $*" > /dev/console
sync
case "$*" in *-r*) reboot -f;; *-H*) halt -f;; *) poweroff -f;; esac
`;

/** Keeps writing N MiB of changing memory: what makes a live migration hard. */
export const guestDirty = `#!/bin/sh
mount -o remount,size=90% /dev/shm
dd if=/dev/urandom of=/tmp/seed bs=1M count=1 2>/dev/null
while :; do
  i=0
  while [ $i -lt $1 ]; do dd if=/tmp/seed of=/dev/shm/dirty bs=1M seek=$i conv=notrunc 2>/dev/null; i=$((i+1)); done
  { tail -c 1048569 /tmp/seed; head -c 7 /tmp/seed; } > /tmp/next; mv /tmp/next /tmp/seed
done
`;
