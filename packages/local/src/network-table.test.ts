import { expect, test } from "vitest";
import { networkTable } from "./network-table.ts";

const names = { nftTable: "virtkit_1", hostLink: "vk1" };
const network = { podAddress: "10.87.0.2" };

test("an isolated Pod gets answers and the outside, but nothing of the host or of another Pod", () => {
  expect(networkTable(names, network, "isolated")).toMatchInlineSnapshot(`
    "table inet virtkit_1 {
      chain guard {
        type filter hook prerouting priority -300;
        iifname "vk1" ip saddr != 10.87.0.2 drop
        iifname "vk1" ip daddr 127.0.0.0/8 drop
      }
      chain contain {
        type filter hook prerouting priority -190;
        iifname "vk1" ct direction reply ct state established,related accept
        iifname "vk1" meta nfproto ipv6 drop
        iifname "vk1" fib daddr type != unicast drop
        iifname "vk1" ip daddr 169.254.0.0/16 meta l4proto != { tcp, udp } drop
        iifname "vk1" ip daddr 169.254.0.0/16 th dport != 53 drop
      }
      chain pass {
        type filter hook forward priority 0;
        oifname "vk1" ct direction reply ct state established,related accept
        oifname "vk1" drop
        iifname "vk1" oifname "vk*" drop
      }
      chain leaving {
        type nat hook postrouting priority 100;
        ip saddr 10.87.0.2 oifname != "vk1" masquerade
      }
    }
    "
  `);
});

test("an open Pod still cannot use the address of another, nor reach the host's loopback", () => {
  expect(networkTable(names, network, "open")).toMatchInlineSnapshot(`
    "table inet virtkit_1 {
      chain guard {
        type filter hook prerouting priority -300;
        iifname "vk1" ip saddr != 10.87.0.2 drop
        iifname "vk1" ip daddr 127.0.0.0/8 drop
      }
      chain leaving {
        type nat hook postrouting priority 100;
        ip saddr 10.87.0.2 oifname != "vk1" masquerade
      }
    }
    "
  `);
});
