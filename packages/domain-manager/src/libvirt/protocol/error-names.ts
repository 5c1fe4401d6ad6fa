/**
 * Names of libvirt's error numbers, and of the parts of libvirt that fail; the position is the
 * number. A newer daemon may send numbers beyond the ends of these lists.
 */
export const errorCodeNames: readonly string[] = names(`
  ok internalError noMemory noSupport unknownHost noConnect invalidConn invalidDomain invalidArg
  operationFailed getFailed postFailed httpError sexprSerial noXen xenCall osType noKernel
  noRoot noSource noTarget noName noOs noDevice noXenstore driverFull callFailed xmlError
  domExist operationDenied openFailed readFailed parseFailed confSyntax writeFailed xmlDetail
  invalidNetwork networkExist systemError rpc gnutlsError noNetwork noDomain noNetwork
  invalidMac authFailed invalidStoragePool invalidStorageVol noStorage noStoragePool
  noStorageVol noNode invalidNodeDevice noNodeDevice noSecurityModel operationInvalid
  noInterface noInterface invalidInterface multipleInterfaces noNwfilter invalidNwfilter
  noNwfilter buildFirewall noSecret invalidSecret noSecret configUnsupported operationTimeout
  migratePersistFailed hookScriptFailed invalidDomainSnapshot noDomainSnapshot invalidStream
  argumentUnsupported storageProbeFailed storagePoolBuilt snapshotRevertRisky operationAborted
  authCancelled noDomainMetadata migrateUnsafe overflow blockCopyActive operationUnsupported ssh
  agentUnresponsive resourceBusy accessDenied dbusService storageVolExist cpuIncompatible
  xmlInvalidSchema migrateFinishOk authUnavailable noServer noClient agentUnsynced libssh
  deviceMissing invalidNwfilterBinding noNwfilterBinding invalidDomainCheckpoint
  noDomainCheckpoint noDomainBackup invalidNetworkPort networkPortExist noNetworkPort noHostname
  checkpointInconsistent multipleDomains noNetworkMetadata agentCommandTimeout
  agentCommandFailed invalidEncrKeySecret
`);

export const errorDomainNames: readonly string[] = names(`
  none xen xend xenstore sexpr xml dom rpc proxy conf qemu net test remote openvz xenxm
  statsLinux lxc storage network domain uml nodedev xenInotify security vbox interface one esx
  phyp secret cpu xenapi nwfilter hook domainSnapshot audit sysinfo streams vmware event libxl
  locking hyperv capabilities uri auth dbus parallels device ssh lockspace initctl identity
  cgroup access systemd bhyve crypto firewall polkit thread admin logging xenxl perf libssh
  resctrl firewalld domainCheckpoint tpm bpf ch
`);

function names(text: string): string[] {
  return text.trim().split(/\s+/);
}
