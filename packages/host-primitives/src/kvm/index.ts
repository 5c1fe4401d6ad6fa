export { hypervFeatures } from "./hyperv-features.ts";
