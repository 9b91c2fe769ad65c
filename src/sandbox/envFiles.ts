import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as enclaveConfig from '../enclave/configSchema.js'
import type { ContractAddresses } from '../protocol/api.js'
import * as serverConfig from '../server/config/schema.js'
import { differencesOf } from '../service/config.js'
import type { SandboxAccounts } from './accounts.js'
import { publicIdentity, type SandboxSecrets } from './secrets.js'
import { DAILY_GAS, FRONTEND_ORIGIN, type SandboxOptions } from './settings.js'

/** The addresses of a sandbox's parts, and its deployment. */
export interface Places {
  url: string
  opsUrl: string
  /** The URL that the enclave calls. */
  relayUrl: string
  rpcUrl: string
  brokerUrl: string
  chainId: number
  contracts: ContractAddresses
  /** The enclave's URL, unless the server starts it. */
  enclaveUrl: string | undefined
  /** The origin of the trading page, if it is served. */
  deskUrl: string | undefined
}

type Variables = Record<string, string>

/** By program, in the words of `differencesOf`. */
export type SettingDifferences = Readonly<Record<'server' | 'enclave', readonly string[]>>

/**
 * Writes the server's `.env` and the enclave's `.env.enclave`, readable only by their owner. Returns, by program, the settings that
 * differ from the env examples.
 */
export async function writeEnvFiles(
  options: SandboxOptions,
  places: Places,
  secrets: SandboxSecrets,
  accounts: SandboxAccounts,
): Promise<SettingDifferences> {
  const { directory, serverSettings, enclaveSettings } = options
  const server = { ...serverVariables(directory, places, secrets, accounts), ...serverSettings }
  const enclave = { ...enclaveVariables(directory, places, secrets), ...enclaveSettings }
  await writeEnv(join(directory, '.env'), server)
  await writeEnv(join(directory, '.env.enclave'), enclave)
  return {
    server: differencesOf(serverConfig.environmentSchema, server),
    enclave: differencesOf(enclaveConfig.environmentSchema, enclave),
  }
}

function serverVariables(
  directory: string,
  places: Places,
  secrets: SandboxSecrets,
  accounts: SandboxAccounts,
): Variables {
  const { intentPublicKey, enclaveSigner } = publicIdentity(secrets)
  return {
    ...sharedVariables(places),
    HOST: '127.0.0.1',
    PORT: new URL(places.url).port,
    OPS_PORT: new URL(places.opsUrl).port,
    RELAY_PORT: new URL(places.relayUrl).port,
    // A person reads the narration, which the sandbox passes on.
    NARRATOR_FORMAT: 'text',
    FRONTEND_ORIGIN: places.deskUrl ?? FRONTEND_ORIGIN,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    RELAYER_PRIVATE_KEY: accounts.relayer.privateKey,
    RELAY_DAILY_GAS: `${DAILY_GAS}`,
    INTENT_PUBKEY: intentPublicKey,
    ENCLAVE_SIGNER: enclaveSigner,
    ...triggerVariables(directory, places, secrets),
    DATA_DIR: join(directory, 'server'),
    ALPACA_KEY_ID: secrets.serverBroker.keyId,
    ALPACA_SECRET_KEY: secrets.serverBroker.secretKey,
  }
}

function triggerVariables(directory: string, { enclaveUrl }: Places, secrets: SandboxSecrets): Variables {
  if (enclaveUrl === undefined) return { ENCLAVE_ENV_FILE: join(directory, '.env.enclave') }
  return { ENCLAVE_URL: enclaveUrl, ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret }
}

function residentVariables(directory: string, { enclaveUrl }: Places, secrets: SandboxSecrets): Variables {
  if (enclaveUrl === undefined) return {}
  return {
    ENCLAVE_LISTEN: new URL(enclaveUrl).host,
    ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret,
    ENCLAVE_STATE_DIR: join(directory, 'enclave'),
  }
}

function enclaveVariables(directory: string, places: Places, secrets: SandboxSecrets): Variables {
  return {
    ...sharedVariables(places),
    ...residentVariables(directory, places, secrets),
    // Only tests reorganize a local chain.
    CHAIN_DEPTH: '0',
    LEDGER_MASTER_KEY: secrets.ledgerMasterKey,
    INTENT_PRIVATE_KEY: secrets.intentPrivateKey,
    ENCLAVE_PRIVATE_KEY: secrets.enclavePrivateKey,
    RELAY_URL: places.relayUrl,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    ALPACA_KEY_ID: secrets.enclaveBroker.keyId,
    ALPACA_SECRET_KEY: secrets.enclaveBroker.secretKey,
  }
}

function sharedVariables({ rpcUrl, brokerUrl, chainId, contracts }: Places): Variables {
  return {
    RPC_URL: rpcUrl,
    CHAIN_ID: String(chainId),
    INSTITUTION_REGISTRY_ADDRESS: contracts.institutionRegistry,
    ORDER_ESCROW_ADDRESS: contracts.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: contracts.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: contracts.equityToken,
    PLATFORM_POOL_ADDRESS: contracts.platformPool,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
  }
}

function writeEnv(path: string, variables: Variables): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  return writeFile(path, lines.join(''), { mode: 0o600 })
}
