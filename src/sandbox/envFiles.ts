import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as enclaveConfig from '../enclave/configSchema.js'
import { addressVariables, linesOf } from '../operate/deploy.js'
import { addressOfKey, draw, publicKeyOfKey } from '../operate/secretFiles.js'
import * as serverConfig from '../server/config/schema.js'
import { differencesOf } from '../service/config.js'
import { accountIdOf } from '../simulator/index.js'
import type { SandboxAccounts } from './accounts.js'
import { type AttestedSetup, SANDBOX_SETTINGS, settingsOf } from './attested.js'
import { BROKER_CASH, FRONTEND_ORIGIN, type SandboxFile, type SandboxOptions } from './settings.js'

/** All secrets of a sandbox, drawn at each start, and the public parts of two. */
export type SandboxSecrets = ReturnType<typeof drawSecrets>

export function drawSecrets() {
  const intentPrivateKey = draw.privateKey()
  const enclavePrivateKey = draw.privateKey()
  return {
    ledgerMasterKey: draw.privateKey(),
    intentPrivateKey,
    intentPublicKey: publicKeyOfKey(intentPrivateKey),
    enclavePrivateKey,
    enclaveSigner: addressOfKey(enclavePrivateKey),
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
  const keyId = `PK${randomBytes(9).toString('hex').toUpperCase()}`
  return { name, cash, keyId, secretKey: randomBytes(20).toString('hex') }
}

/**
 * Writes the server's `.env` and the enclave's `.env.enclave`, readable only by their owner. Returns, by program, the settings that
 * differ from the env examples, in the words of `differencesOf`.
 */
export async function writeEnvFiles(
  { directory, serverSettings, enclaveSettings }: SandboxOptions,
  info: SandboxFile,
  secrets: SandboxSecrets,
  { relayer }: SandboxAccounts,
  attested?: AttestedSetup,
): Promise<Readonly<Record<'server' | 'enclave', readonly string[]>>> {
  const { enclaveUrl, brokerUrl } = info
  const shared = {
    RPC_URL: info.rpcUrl,
    CHAIN_ID: String(info.chainId),
    ...addressVariables(info),
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    ...(enclaveUrl !== undefined && { ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret }),
  }
  const server = {
    ...shared,
    HOST: '127.0.0.1',
    PORT: new URL(info.url).port,
    OPS_PORT: new URL(info.opsUrl).port,
    RELAY_PORT: new URL(info.relayUrl).port,
    // A person reads the narration, which the sandbox passes on.
    NARRATOR_FORMAT: 'text',
    FRONTEND_ORIGIN: info.deskUrl ?? FRONTEND_ORIGIN,
    RELAYER_PRIVATE_KEY: relayer.privateKey,
    // An attested enclave posts both.
    ...(attested === undefined && {
      INTENT_PUBKEY: secrets.intentPublicKey,
      ENCLAVE_SIGNER: secrets.enclaveSigner,
    }),
    ...(enclaveUrl === undefined
      ? { ENCLAVE_ENV_FILE: join(directory, '.env.enclave') }
      : { ENCLAVE_URL: enclaveUrl }),
    DATA_DIR: join(directory, 'server'),
    ALPACA_KEY_ID: secrets.serverBroker.keyId,
    ALPACA_SECRET_KEY: secrets.serverBroker.secretKey,
    ...serverSettings,
  }
  const enclave = {
    ...shared,
    ...(enclaveUrl !== undefined && {
      ENCLAVE_LISTEN: new URL(enclaveUrl).host,
      ENCLAVE_STATE_DIR: join(directory, 'enclave'),
    }),
    // Only tests reorganize a local chain.
    CHAIN_DEPTH: '0',
    RELAY_URL: info.relayUrl,
    ...(attested ? settingsOf(attested, accountIdOf(secrets.enclaveBroker.name)) : keysOf(secrets)),
    ...enclaveSettings,
  }
  await writeFile(join(directory, '.env'), linesOf(server), { mode: 0o600 })
  await writeFile(join(directory, '.env.enclave'), linesOf(enclave), { mode: 0o600 })
  return {
    server: differencesOf(serverConfig.environmentSchema, server),
    enclave: differencesOf(attested ? SANDBOX_SETTINGS.schema : enclaveConfig.environmentSchema, enclave),
  }
}

function keysOf(secrets: SandboxSecrets) {
  return {
    LEDGER_MASTER_KEY: secrets.ledgerMasterKey,
    INTENT_PRIVATE_KEY: secrets.intentPrivateKey,
    ENCLAVE_PRIVATE_KEY: secrets.enclavePrivateKey,
    ALPACA_KEY_ID: secrets.enclaveBroker.keyId,
    ALPACA_SECRET_KEY: secrets.enclaveBroker.secretKey,
  }
}
