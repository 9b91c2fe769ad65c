import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_DELAYS } from '../chain/deploy.js'
import * as enclaveConfig from '../enclave/configSchema.js'
import { addressVariables, linesOf } from '../operate/deploy.js'
import { draw, publicKeyOfKey } from '../operate/secretFiles.js'
import { addressOfKey } from '../protocol/publicKey.js'
import * as serverConfig from '../server/config/schema.js'
import { differencesOf } from '../service/config.js'
import { accountIdOf } from '../simulator/index.js'
import type { SandboxAccounts } from './accounts.js'
import { SANDBOX_SETTINGS } from './attested.js'
import type { SandboxFile } from './localChain.js'
import { HEAP_BOUNDS } from './serverProcess.js'
import { BROKER_CASH, DELAYS, type PrintStep, type SandboxOptions } from './settings.js'

/** All secrets of a sandbox, drawn at each start, and the public parts of two. */
export function drawSecrets() {
  const keys = {
    LEDGER_MASTER_KEY: draw.privateKey(),
    INTENT_PRIVATE_KEY: draw.privateKey(),
    ENCLAVE_PRIVATE_KEY: draw.privateKey(),
  }
  return {
    /** Those of an enclave that takes them from files. */
    keys,
    intentPublicKey: publicKeyOfKey(keys.INTENT_PRIVATE_KEY),
    enclaveSigner: addressOfKey(keys.ENCLAVE_PRIVATE_KEY),
    relayAuthToken: draw.token(),
    /** Shared by server and enclave. */
    triggerSecret: draw.triggerSecret(),
    /** The enclave's trading account at the broker. */
    enclaveBroker: brokerAccount('enclave', BROKER_CASH),
    /** The server's account at the broker, which only reads prices and the clock. */
    serverBroker: brokerAccount('server', '0'),
  }
}

function brokerAccount(name: string, cash: string) {
  return { name, cash, keyId: `PK${draw.token().slice(0, 18).toUpperCase()}`, secretKey: draw.token() }
}

/** Writes the server's `.env` and the enclave's `.env.enclave`, readable only by their owner, and prints what differs from the defaults. */
export async function writeEnvFiles(
  { directory, serverSettings, enclaveSettings }: SandboxOptions,
  info: SandboxFile,
  secrets: ReturnType<typeof drawSecrets>,
  { relayer }: SandboxAccounts,
  attested: { readonly settings: Record<string, string> } | undefined,
  printStep: PrintStep,
) {
  const { serverBroker, enclaveBroker } = secrets
  const shared = {
    RPC_URL: info.rpcUrl,
    CHAIN_ID: String(info.chainId),
    ...addressVariables(info),
    ALPACA_TRADING_URL: info.brokerUrl,
    ALPACA_DATA_URL: info.brokerUrl,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret,
  }
  const server = {
    ...shared,
    HOST: '127.0.0.1',
    PORT: new URL(info.url).port,
    OPS_PORT: new URL(info.opsUrl).port,
    RELAY_PORT: new URL(info.relayUrl).port,
    // A person reads the narration, which the sandbox passes on.
    NARRATOR_FORMAT: 'text',
    FRONTEND_ORIGIN: info.deskUrl ?? 'http://localhost:5173',
    RELAYER_PRIVATE_KEY: relayer.privateKey,
    // An attested enclave posts both.
    ...(!attested && { INTENT_PUBKEY: secrets.intentPublicKey, ENCLAVE_SIGNER: secrets.enclaveSigner }),
    ENCLAVE_URL: info.enclaveUrl,
    DATA_DIR: join(directory, 'server'),
    ALPACA_KEY_ID: serverBroker.keyId,
    ALPACA_SECRET_KEY: serverBroker.secretKey,
    ...serverSettings,
  }
  const { keyId: ALPACA_KEY_ID, secretKey: ALPACA_SECRET_KEY } = enclaveBroker
  const enclave = {
    ...shared,
    ENCLAVE_LISTEN: new URL(info.enclaveUrl).host,
    ENCLAVE_STATE_DIR: join(directory, 'enclave'),
    // Only tests reorganize a local chain.
    CHAIN_DEPTH: '0',
    RELAY_URL: info.relayUrl,
    ...(attested
      ? { ...attested.settings, ALPACA_ACCOUNT_ID: accountIdOf(enclaveBroker.name) }
      : { ...secrets.keys, ALPACA_KEY_ID, ALPACA_SECRET_KEY }),
    ...enclaveSettings,
  }
  await writeFile(join(directory, '.env'), linesOf(server), { mode: 0o600 })
  await writeFile(join(directory, '.env.enclave'), linesOf(enclave), { mode: 0o600 })
  const differing = {
    server: differencesOf(serverConfig.environmentSchema, server),
    enclave: differencesOf(attested ? SANDBOX_SETTINGS.schema : enclaveConfig.environmentSchema, enclave),
    contracts: (['rotation', 'pause', 'leave'] as const).map(
      (name) => `${name}=${DELAYS[name]}s [${DEFAULT_DELAYS[name]}s]`,
    ),
    node: HEAP_BOUNDS.map((bound) => `${bound} [unset]`),
  }
  printStep('settings', 'each has its default, but for these, whose defaults are in brackets:')
  for (const [program, lines] of Object.entries(differing))
    for (const line of lines) printStep('', `${program.padEnd('contracts  '.length)}${line}`)
}
