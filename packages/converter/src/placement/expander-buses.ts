import { invalidVmi } from "../converter-error.ts";
import type { DomainController } from "../model/controller.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import type { DomainIommu } from "../model/platform-device.ts";
import { hexByte } from "./pci-address.ts";

/** A host device that goes to a guest NUMA cell. */
export interface CellDevice {
  readonly device: DomainHostDevice;
  /** Its address on the host, by which devices are ordered. */
  readonly source: string;
  readonly cell: number;
  /** Its own IOMMU; the device then does not share its bus. */
  readonly iommu?: DomainIommu;
}

/** Highest bus number of a PCI domain; expander buses are numbered down from it. */
const highestBus = 255;

/**
 * Puts devices behind an expander bus of their guest cell, each on its own port.
 *
 * @throws ConverterError if there are not enough bus numbers; the domain is then unchanged.
 */
export function placeOnExpanderBuses(domain: Domain, devices: readonly CellDevice[]): void {
  const plan = new Plan(domain);
  const sorted = [...devices].sort(byCellAndSource);
  const cells = [...new Set(sorted.map(({ cell }) => cell))];
  const shared: Branch[] = [];
  const isolated: Branch[] = [];
  for (const cell of cells) {
    const here = sorted.filter((device) => device.cell === cell);
    for (const device of here) {
      if (device.iommu) isolated.push(plan.branch(cell, [device]));
    }
    const others = here.filter(({ iommu }) => !iommu);
    if (others.length > 0) shared.push(plan.branch(cell, others));
  }
  for (const branch of [...isolated, ...shared]) apply(domain, branch);
}

/** An expander bus with its ports and the devices behind them, in the same order. */
interface Branch {
  readonly expander: DomainController;
  readonly ports: readonly DomainController[];
  readonly devices: readonly CellDevice[];
}

class Plan {
  #index: number;
  #count = 0;
  #lowestBus = highestBus;

  constructor({ devices }: Domain) {
    this.#index = Math.max(0, ...devices.controllers.map(({ index }) => index));
  }

  branch(node: number, devices: readonly CellDevice[]): Branch {
    const expander: DomainController = {
      ...this.#controller("pcie-expander-bus"),
      target: { node },
    };
    const ports = devices.map((_, slot) => this.#port(expander, slot));
    this.#lowestBus = highestBus - this.#count + 1;
    expander.target = { busNr: this.#lowestBus, node };
    return { expander, ports, devices };
  }

  #port(expander: DomainController, slot: number): DomainController {
    if (this.#index >= this.#lowestBus - 1) {
      const path = "spec.domain.devices";
      throw invalidVmi(
        path,
        "there are more host devices than a PCI domain has bus numbers; use fewer",
      );
    }
    const address = { ...onPort(expander), slot: hexByte(slot) };
    return { ...this.#controller("pcie-root-port"), address };
  }

  #controller(model: string): DomainController {
    this.#index++;
    this.#count++;
    return { type: "pci", index: this.#index, model };
  }
}

function apply({ devices }: Domain, { expander, ports, devices: placed }: Branch): void {
  devices.controllers.push(expander, ...ports);
  for (const [at, { device, iommu }] of placed.entries()) {
    device.address = onPort(ports[at] as DomainController);
    if (!iommu) continue;
    const driver = { ...iommu.driver, pciBus: String(expander.index) };
    devices.iommus.push({ ...iommu, driver });
  }
}

function onPort({ index }: DomainController): NonNullable<DomainHostDevice["address"]> {
  return { type: "pci", domain: "0x0000", bus: String(index), slot: "0x00", function: "0x0" };
}

function byCellAndSource(one: CellDevice, other: CellDevice): number {
  if (one.cell !== other.cell) return one.cell - other.cell;
  if (one.source === other.source) return 0;
  return one.source < other.source ? -1 : 1;
}
