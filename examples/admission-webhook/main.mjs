import { readFileSync } from "node:fs";
import { admissionWebhook } from "./webhook.mjs";

/** @param {string} file */
const read = (file) => readFileSync(`/etc/tls/${file}`, "utf8");
admissionWebhook({ key: read("tls.key"), cert: read("tls.crt") }).listen(8443);
