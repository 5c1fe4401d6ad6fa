/** `on` or `off`. */
export function onOff(value: boolean | null | undefined, fallback: boolean): "on" | "off" {
  return (value ?? fallback) ? "on" : "off";
}

/** `yes` or `no`. */
export function yesNo(value: boolean | null | undefined, fallback: boolean): "yes" | "no" {
  return (value ?? fallback) ? "yes" : "no";
}
