export { admittedVmi } from "../service/testing/admit-vmi.ts";
