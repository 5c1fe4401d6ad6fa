/**
 * The guest's PID 1. It loads the virtio drivers, mounts every virtio disk that has a file system below
 * `/mnt`, takes addresses by DHCP, starts the guest agent, counts on the console (`HB n uptime`, ten a
 * second unless the kernel command line has `hb=none`), obeys the power button, and gives a shell on
 * the serial console. `BOOTED` on the console says that all this has been started.
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
for d in /dev/vd?; do
  [ -e $d ] && mkdir -p /mnt/\${d##*/} && mount $d /mnt/\${d##*/} 2>/dev/null
done
for n in /sys/class/net/*; do
  n=\${n##*/}
  [ $n = lo ] || { ip link set $n up; udhcpc -b -S -t 20 -T 1 -A 1 -i $n -s /etc/dhcp.sh >/dev/null 2>&1; } &
done
acpid -d -l /dev/null -c /etc/acpi >/dev/null 2>&1 &
[ -e /dev/virtio-ports/org.qemu.guest_agent.0 ] &&
  qemu-ga -d -m virtio-serial -p /dev/virtio-ports/org.qemu.guest_agent.0 -t /run -f /run/qga.pid
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

/** Writes N MiB of changing memory for ever: what makes a live migration hard. */
export const guestDirty = `#!/bin/sh
mount -o remount,size=90% /dev/shm
dd if=/dev/urandom of=/tmp/seed bs=1M count=1 2>/dev/null
while :; do
  i=0
  while [ $i -lt $1 ]; do dd if=/tmp/seed of=/dev/shm/dirty bs=1M seek=$i conv=notrunc 2>/dev/null; i=$((i+1)); done
  { tail -c 1048569 /tmp/seed; head -c 7 /tmp/seed; } > /tmp/next; mv /tmp/next /tmp/seed
done
`;
