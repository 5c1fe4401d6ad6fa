/** What the page starts with. */
export const sample = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: demo
  namespace: default
spec:
  domain:
    cpu:
      cores: 1
    memory:
      guest: 1Gi
    devices:
      disks:
        - name: root
          disk:
            bus: virtio
          cache: none
      interfaces:
        - name: default
          masquerade: {}
      rng: {}
  networks:
    - name: default
      pod: {}
  volumes:
    - name: root
      persistentVolumeClaim:
        claimName: root
`;
