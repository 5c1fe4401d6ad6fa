/** A guest as libvirt reports it, with what it fills in, and what a target would start for the same VMI. */

export const uid = "5d307ca9-b3ef-428c-8861-06e72d69f223";

/** What the source's libvirt reports. */
export const liveXml = `<domain type='kvm' id='1' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>ns_vm</name>
  <uuid>${uid}</uuid>
  <metadata><kubevirt xmlns="http://kubevirt.io"><uid>${uid}</uid></kubevirt></metadata>
  <memory unit='KiB'>1048576</memory>
  <currentMemory unit='KiB'>1048576</currentMemory>
  <memoryBacking><source type='memfd'/></memoryBacking>
  <vcpu placement='static' current='2'>8</vcpu>
  <iothreads>1</iothreads>
  <cputune><vcpupin vcpu='0' cpuset='3'/></cputune>
  <resource><partition>/machine</partition></resource>
  <sysinfo type='smbios'><system><entry name='serial'>abc</entry></system></sysinfo>
  <os>
    <type arch='x86_64' machine='pc-q35-rhel9.6.0'>hvm</type>
    <loader readonly='yes' secure='yes' type='pflash' format='raw'>/source/OVMF_CODE.fd</loader>
    <nvram template='/source/OVMF_VARS.fd'>/source/vm_VARS.fd</nvram>
    <smbios mode='sysinfo'/>
  </os>
  <features><acpi/><apic/><smm state='on'/></features>
  <cpu mode='custom' match='exact' check='full'>
    <model fallback='forbid'>Skylake-Client-IBRS</model>
    <topology sockets='4' dies='1' cores='2' threads='1'/>
    <feature policy='require' name='ss'/>
    <feature policy='disable' name='hle'/>
  </cpu>
  <clock offset='utc'><timer name='hpet' present='no'/></clock>
  <on_poweroff>destroy</on_poweroff>
  <devices>
    <emulator>/source/qemu-kvm</emulator>
    <disk type='file' device='disk' model='virtio-non-transitional'>
      <driver name='qemu' type='qcow2' cache='none' discard='unmap' queues='2'/>
      <source file='/source/disk.qcow2' index='2'/>
      <backingStore type='file'><format type='qcow2'/><source file='/source/disk_0.img'/></backingStore>
      <target dev='vda' bus='virtio'/>
      <serial>S1</serial>
      <alias name='ua-root'/>
      <address type='pci' domain='0x0000' bus='0x07' slot='0x00' function='0x0'/>
    </disk>
    <controller type='pci' index='0' model='pcie-root'><alias name='pcie.0'/></controller>
    <controller type='pci' index='1' model='pcie-root-port'>
      <model name='pcie-root-port'/><target chassis='1' port='0x10'/>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x02' function='0x0'/>
    </controller>
    <interface type='ethernet'>
      <mac address='02:00:00:00:0a:01'/>
      <target dev='tap-source' managed='no'/>
      <model type='virtio-non-transitional'/>
      <driver name='vhost' queues='2'/>
      <mtu size='1480'/>
      <alias name='ua-default'/>
      <address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/>
    </interface>
    <serial type='unix'>
      <source mode='bind' path='/source/virt-serial0'/>
      <target type='isa-serial' port='0'><model name='isa-serial'/></target>
      <alias name='serial0'/>
    </serial>
    <channel type='unix'>
      <source mode='bind' path='/source/org.qemu.guest_agent.0'/>
      <target type='virtio' name='org.qemu.guest_agent.0' state='connected'/>
      <address type='virtio-serial' controller='0' bus='0' port='1'/>
    </channel>
    <graphics type='vnc' socket='/source/virt-vnc'><listen type='socket' socket='/source/virt-vnc'/></graphics>
    <audio id='1' type='none'/>
    <video><model type='vga' vram='16384' heads='1'/><address type='pci' bus='0x00' slot='0x01' function='0x0'/></video>
    <hostdev mode='subsystem' type='mdev' model='vfio-pci'>
      <source><address uuid='11111111-0000-0000-0000-000000000000'/></source>
      <alias name='ua-gpu'/>
      <address type='pci' domain='0x0000' bus='0x0a' slot='0x00' function='0x0'/>
    </hostdev>
    <memballoon model='virtio'><stats period='10'/><address type='pci' bus='0x08' slot='0x00' function='0x0'/></memballoon>
    <rng model='virtio'><backend model='random'>/source/urandom</backend><alias name='rng0'/></rng>
  </devices>
  <seclabel type='dynamic' model='dac' relabel='yes'><label>+107:+107</label></seclabel>
  <qemu:commandline><qemu:arg value='-sandbox'/></qemu:commandline>
</domain>`;

/** What the target would start: nothing filled in, its own paths, CPUs and devices. */
export const ownXml = `<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>ns_vm</name>
  <uuid>${uid}</uuid>
  <metadata><kubevirt xmlns="http://kubevirt.io"><uid>${uid}</uid></kubevirt></metadata>
  <memory unit='b'>1073741824</memory>
  <memoryBacking><hugepages/><source type='memfd'/></memoryBacking>
  <vcpu placement='static'>8</vcpu>
  <iothreads>1</iothreads>
  <cputune><vcpupin vcpu='0' cpuset='64'/></cputune>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <loader readonly='yes' secure='yes' type='pflash'>/own/OVMF_CODE.fd</loader>
    <nvram template='/own/OVMF_VARS.fd'>/own/vm_VARS.fd</nvram>
  </os>
  <cpu mode='host-model'/>
  <devices>
    <disk type='block' device='disk'>
      <driver name='qemu' type='raw' cache='none' io='native'/>
      <source dev='/dev/own'/>
      <target dev='vda' bus='virtio'/>
      <alias name='ua-root'/>
    </disk>
    <interface type='ethernet'>
      <target dev='tap-own' managed='no'/>
      <model type='virtio-non-transitional'/>
      <driver name='vhost'/>
      <alias name='ua-default'/>
    </interface>
    <serial type='unix'><source mode='bind' path='/own/virt-serial0'/><target port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <graphics type='vnc' socket='/own/virt-vnc'/>
    <hostdev mode='subsystem' type='mdev'>
      <source><address uuid='22222222-0000-0000-0000-000000000000'/></source><alias name='ua-gpu'/>
    </hostdev>
    <rng model='virtio'><backend model='random'>/own/urandom</backend></rng>
  </devices>
  <qemu:commandline><qemu:arg value='-sandbox'/></qemu:commandline>
</domain>`;
