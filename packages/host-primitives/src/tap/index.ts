export {
  checkTapSpec,
  createTap,
  interfaceName,
  removeTap,
  type Tap,
  type TapSpec,
} from "./create-tap.ts";
