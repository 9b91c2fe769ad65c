import * as z from 'zod'
import { hexOf } from '../protocol/hex.js'
import { required } from '../service/config.js'
import { privateKey, visibleText } from '../service/configKinds.js'
import { Secret } from '../service/secret.js'
import { commonSettings, secret } from './commonSettings.js'

const key32 = hexOf(32)

export const ENV_EXAMPLE_HEADER = [
  "# The enclave's configuration: `install -m 600 .env.enclave.example .env.enclave`. A file that other users have rights",
  '# on is refused. ENCLAVE_ENV_FILE names it to the program that starts the enclave, which never reads it. A line that is',
  '# commented out shows its default. Each URL is https, or http on this machine. Checked against the schema by `npm run check`.',
]

const renamed = (to: string) => `is ${to} today, with a unit: 10s`

/** Variables of earlier versions, each with what to do about it. */
export const FORMER_VARIABLES: Readonly<Record<string, string>> = {
  RPC_TIMEOUT_MS: renamed('RPC_TIMEOUT'),
  BROKER_TIMEOUT_MS: renamed('BROKER_TIMEOUT'),
  RELAY_TIMEOUT_MS: renamed('RELAY_TIMEOUT'),
  FILL_WAIT_MS: renamed('FILL_WAIT'),
  RELAY_AGAIN_MS: renamed('RELAY_RETRY_AFTER'),
  CONFIRM_POLL_MS: renamed('CONFIRM_POLL_INTERVAL'),
  ABSENT_AGAIN_MS: renamed('ABSENT_RECHECK_AFTER'),
  AMBIGUOUS_AGAIN_MS: renamed('AMBIGUOUS_RETRY_AFTER'),
  FILL_POLL_MS: 'is gone: remove it. The stream of trade updates says when to look',
  RECONCILE_HALTED_SYMBOLS:
    'is gone: remove it. The enclave halts a symbol by itself, and "operate actions" lists why',
}

/** Every variable of the enclave, in the order of `.env.enclave.example`. Others are ignored. */
export const environmentSchema = z.object({
  LEDGER_MASTER_KEY: required(
    z.pipe(
      key32,
      z.transform((key) => new Secret(key)),
    ),
    secret(
      '32 bytes that all ledger keys are derived from. Losing it loses the record of every balance: back it up.',
      'Keys: each 0x and 64 hex digits (openssl rand -hex 32)',
    ),
  ),
  INTENT_PRIVATE_KEY: required(
    privateKey().transform((key) => new Secret(key)),
    secret("Opens what clients seal; the server's INTENT_PUBKEY belongs to it."),
  ),
  ENCLAVE_PRIVATE_KEY: required(
    privateKey().transform((key) => new Secret(key)),
    secret("Signs authorizations; the contracts' enclaveSigner is its address. It holds no gas."),
  ),
  ALPACA_KEY_ID: required(
    visibleText(),
    secret(
      "Keys of the account that trades: another one than the server's, which could read every order there.",
      'Broker',
    ),
  ),
  ALPACA_SECRET_KEY: required(visibleText(), secret('')),
  ...commonSettings,
})
