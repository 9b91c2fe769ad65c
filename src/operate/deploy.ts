import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { ADDRESS_VARIABLES, CONTRACT_NAMES } from '../chain/contracts.js'
import { type Creation, DEFAULT_DELAYS, deployContracts } from '../chain/deploy.js'
import { compiler } from '../chain/generated/compiler.js'
import { hasCode } from '../chain/views.js'
import { deskSettingsSchema } from '../protocol/deskSettings.js'
import type { Hex } from '../protocol/hex.js'
import { chainIdTextSchema } from '../protocol/identifiers.js'
import { publicKeySchema } from '../protocol/point.js'
import { ConfigError, type Environment, faultsOf, withoutEmpty } from '../service/config.js'
import { account, baseUrl, duration, listOf, secureUrl } from '../service/configKinds.js'
import { writeNewFile } from '../service/privateFile.js'
import { repeatedValues } from '../service/settingRules.js'
import { CommandError } from '../terminal/failure.js'
import { type Chain, connectChain, walletOf } from './chain.js'
import { type CommonOptions, createSpeech, type OperateProcess, type Speech } from './io.js'
import { type SecretKinds, secretFileVariables } from './secretFiles.js'
import {
  type DeploymentFile,
  deploymentPath,
  findDeployment,
  readKey,
  readPublicValues,
  writeDeployment,
} from './settings.js'

const required = <T>(kind: z.core.$ZodType<T, string>, error = 'is missing') => z.string({ error }).pipe(kind)
const BY_KEYS = 'is missing: "keys" makes it'
const OF_FILE_KEYS = 'is of keys in files: leave it out with --attested, and deploy in a directory of its own'
const BY_PEOPLE = 'is missing: give its address, or let "keys --operator" make one for a test network'
/** Whole seconds of a duration such as 48h; the contracts keep it for ever. Below an hour nobody could react to a rotation. */
const seconds = (fallback: number) =>
  z
    .string()
    .default(`${fallback}s`)
    .pipe(duration({ min: '1h' }))
    .transform((ms) => ms / 1_000)

/** The settings of `deploy`: variables of the process, and `secrets/public.env`. */
const settingsSchema = z.object({
  RPC_URL: required(listOf(secureUrl())),
  ENCLAVE_RPC_URL: required(listOf(secureUrl())),
  CHAIN_ID: required(chainIdTextSchema),
  CHAIN_NAME: z.string().optional(),
  OWNER_ADDRESS: required(account(), BY_PEOPLE),
  GUARDIAN_ADDRESS: required(account(), BY_PEOPLE),
  ENCLAVE_SIGNER: z.optional(account()),
  INTENT_PUBKEY: z.optional(publicKeySchema),
  USDC_ADDRESS: required(account()),
  BROKER_FUNDING_ADDRESS: required(account()),
  ROTATION_DELAY: seconds(DEFAULT_DELAYS.rotation),
  MAX_PAUSE: seconds(DEFAULT_DELAYS.pause),
  LEAVE_DELAY: seconds(DEFAULT_DELAYS.leave),
  FRONTEND_ORIGIN: z.string().default('http://localhost:5173').pipe(baseUrl()),
  PORT: z.string().default('8000'),
  RELAY_PORT: z.string().default('8002'),
  ENCLAVE_LISTEN: z.string().default('127.0.0.1:8700'),
  /** Where browsers reach the server. */
  SERVER_URL: z.optional(baseUrl()),
})
type Settings = Omit<z.output<typeof settingsSchema>, (typeof FILE_KEYS)[number]> & {
  /** The public values of the enclave's keys; null where it is attested, and makes them after the deployment. */
  readonly fileKeys: { readonly signer: Hex; readonly intentPublicKey: Hex } | null
}
const FILE_KEYS = ['ENCLAVE_SIGNER', 'INTENT_PUBKEY'] as const
/** Each has powers that no other may have: a guardian stops a stolen owner's key, and USDC is a contract. */
const ROLES = ['OWNER_ADDRESS', 'GUARDIAN_ADDRESS', 'ENCLAVE_SIGNER', 'USDC_ADDRESS', 'RELAYER_ADDRESS']

/** Taken over into a configuration if they are set. */
const PASSED_ON = {
  server: ['PORT', 'OPS_PORT', 'RELAY_PORT', 'HOST', 'ALPACA_TRADING_URL', 'ALPACA_DATA_URL', 'BROKER_FEES'],
  enclave: ['CHAIN_DEPTH', 'ENCLAVE_LISTEN', 'ALPACA_TRADING_URL', 'ALPACA_DATA_URL', 'BROKER_FEES'],
  attested: [
    ...['ATTESTATION_PLATFORM', 'ALPACA_ACCOUNT_ID', 'RPC_WITNESS_URL'],
    ...['MASTER_KEY_HOLDERS', 'MASTER_KEY_THRESHOLD'],
  ],
} as const

export type DeployOptions = CommonOptions & Pick<SecretKinds, 'attested'>

/**
 * Deploys the contracts, unless `deployment.json` names those of this chain, and writes the configurations and the
 * page's settings that do not exist yet. A run that was interrupted is completed by the next one.
 * @throws ConfigError, DeployError, CommandError
 */
export async function deploy(process: OperateProcess, options: DeployOptions): Promise<void> {
  const speech = createSpeech(process, options)
  const { directory, attested = false } = options
  const environment = { ...readPublicValues(directory), ...withoutEmpty(process.env) }
  const settings = readSettings(environment, attested)
  using chain = await connectChain(process.env, settings.CHAIN_ID)
  const existing = findDeployment(directory)
  if (existing) await requireSame(chain, existing, directory)
  const deployment = existing ?? (await deployNow(process, speech, { settings, chain, directory }))
  const files = filesOf(directory, deployment, settings, process.env)
  const written = files.filter(({ path }) => !existsSync(path))
  for (const { path, text, mode } of written) writeNewFile(path, text, mode)
  for (const { path } of files) {
    speech.say(written.some((each) => each.path === path) ? `wrote ${path}` : `keeps ${path}`)
  }
  const addresses = Object.entries(addressVariables(deployment)).map(([name, value]) => `${name}=${value}`)
  const changed = existing === null || written.length > 0
  const paths = written.map(({ path }) => path)
  speech.result(addresses, { command: 'deploy', changed, ...deployment, written: paths })
}

function readSettings(environment: Environment, attested: boolean): Settings {
  const { data, error } = settingsSchema.safeParse(environment)
  const misplaced = FILE_KEYS.filter((name) => (environment[name] === undefined) !== attested)
  const faults = [
    ...faultsOf(error),
    ...misplaced.map((name) => ({ name, problem: attested ? OF_FILE_KEYS : BY_KEYS })),
    ...repeatedValues(environment, ROLES),
  ]
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  const { ENCLAVE_SIGNER: signer, INTENT_PUBKEY: intentPublicKey, ...settings } = data
  const isOfFileKeys = signer !== undefined && intentPublicKey !== undefined
  return { ...settings, fileKeys: isOfFileKeys ? { signer, intentPublicKey } : null }
}

async function deployNow(
  process: OperateProcess,
  speech: Speech,
  { settings, chain, directory }: { settings: Settings; chain: Chain; directory: string },
): Promise<DeploymentFile> {
  const deployer = walletOf(readKey(process.env, 'deployer'), chain)
  // A deployment that cannot be recorded would be lost with its gas.
  accessSync(directory, constants.W_OK | constants.X_OK)
  speech.say(
    `will deploy five contracts and their authority on chain ${settings.CHAIN_ID}, from ${deployer.address}`,
  )
  speech.say(`  owner ${settings.OWNER_ADDRESS}, guardian ${settings.GUARDIAN_ADDRESS}`)
  const signer = settings.fileKeys?.signer ?? null
  speech.say(`  enclave signer ${signer ?? 'not named yet'}, USDC ${settings.USDC_ADDRESS}`)
  speech.say(`  broker funding ${settings.BROKER_FUNDING_ADDRESS}, which can never be changed`)
  await speech.confirm('Deploy?')
  const firstBlock = await chain.provider.getBlockNumber()
  const { contracts, authority, creations } = await deployContracts({
    deployer,
    owner: settings.OWNER_ADDRESS,
    guardian: settings.GUARDIAN_ADDRESS,
    enclaveSigner: signer,
    usdc: settings.USDC_ADDRESS,
    brokerFunding: settings.BROKER_FUNDING_ADDRESS,
    delays: { rotation: settings.ROTATION_DELAY, pause: settings.MAX_PAUSE, leave: settings.LEAVE_DELAY },
  })
  const { CHAIN_ID: chainId, USDC_ADDRESS: usdc } = settings
  recordCreations(speech, { directory, chainId, deployer: deployer.address, firstBlock, creations })
  const deployment = { chainId, contracts, authority, usdc, firstBlock }
  speech.say(`wrote ${writeDeployment(directory, deployment)}`)
  return deployment
}

/** A record of another chain, or of a local chain that was started anew, must not be taken for this one. */
async function requireSame(
  { rpc, chainId }: Chain,
  deployment: DeploymentFile,
  directory: string,
): Promise<void> {
  if (deployment.chainId === chainId && (await hasCode(rpc, deployment.authority))) return
  const text = `${deploymentPath(directory)} is of another chain: its contracts are not here`
  throw new CommandError('other-deployment', text)
}

/** The variables of the contracts, as server and enclave take them. */
export function addressVariables({ contracts }: Pick<DeploymentFile, 'contracts'>): Record<string, string> {
  return Object.fromEntries(CONTRACT_NAMES.map((name) => [ADDRESS_VARIABLES[name], contracts[name]]))
}

function filesOf(
  directory: string,
  deployment: DeploymentFile,
  settings: Settings,
  environment: Environment,
) {
  const { fileKeys } = settings
  const kinds = { attested: fileKeys === null }
  const shared = { CHAIN_ID: String(deployment.chainId), ...addressVariables(deployment) }
  const server = {
    FRONTEND_ORIGIN: settings.FRONTEND_ORIGIN,
    RPC_URL: settings.RPC_URL.join(','),
    ...shared,
    ...(fileKeys && { INTENT_PUBKEY: fileKeys.intentPublicKey, ENCLAVE_SIGNER: fileKeys.signer }),
    ENCLAVE_URL: `http://${settings.ENCLAVE_LISTEN}/`,
    ...passedOn(environment, PASSED_ON.server),
    ...secretFileVariables(directory, 'server', kinds),
  }
  const enclave = {
    RPC_URL: settings.ENCLAVE_RPC_URL.join(','),
    ...shared,
    RELAY_URL: `http://127.0.0.1:${settings.RELAY_PORT}`,
    CHAIN_DEPTH: 'safe',
    ...passedOn(environment, [...PASSED_ON.enclave, ...(fileKeys ? [] : PASSED_ON.attested)]),
    ...secretFileVariables(directory, 'enclave', kinds),
  }
  const files = [
    { path: join(directory, '.env'), text: linesOf(server), mode: 0o600 },
    { path: join(directory, '.env.enclave'), text: linesOf(enclave), mode: 0o600 },
  ]
  // A page pins the key of an unattested enclave, and the programs of an attested one, which no deployment knows.
  if (fileKeys === null) return files
  const desk = z.encode(deskSettingsSchema, {
    serverUrl: settings.SERVER_URL ?? `http://127.0.0.1:${settings.PORT}`,
    origin: settings.FRONTEND_ORIGIN,
    chain: {
      id: deployment.chainId,
      name: settings.CHAIN_NAME ?? `Chain ${deployment.chainId}`,
      rpcUrl: null,
      firstBlock: deployment.firstBlock,
    },
    pins: { enclavePublicKey: fileKeys.intentPublicKey, escrow: deployment.contracts.orderEscrow },
    demoWallets: [],
  })
  return [
    ...files,
    { path: join(directory, 'desk.json'), text: `${JSON.stringify(desk, null, 2)}\n`, mode: 0o644 },
  ]
}

function passedOn(environment: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
}

/** The text of an env file. */
export function linesOf(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** The build writes the compiler's input of each contract here. */
const INPUTS = 'dist/contracts'

/** Writes `deployments/<chainId>.json`, what explorers need to verify the contracts, and says how to have them verified. */
function recordCreations(
  { say }: Speech,
  facts: {
    readonly directory: string
    readonly chainId: number
    readonly deployer: string
    readonly firstBlock: number
    readonly creations: readonly Creation[]
  },
): void {
  const { directory, creations, ...rest } = facts
  const contracts = creations.map(({ contract, ...creation }) => ({
    name: `contracts/${contract}.sol:${contract}`,
    ...creation,
    input: `${INPUTS}/${contract}.json`,
  }))
  const path = join(directory, 'deployments', `${rest.chainId}.json`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ ...rest, compiler, contracts }, null, 2)}\n`)
  say(`wrote ${path}`)
  say('have the contracts verified by Sourcify (for Etherscan, see docs/contracts.md):')
  for (const { name, address, transactionHash, input } of contracts) {
    const body = `{stdJsonInput: ., compilerVersion: "${compiler.version}", contractIdentifier: "${name}", creationTransactionHash: "${transactionHash}"}`
    const url = `https://sourcify.dev/server/v2/verify/${rest.chainId}/${address}`
    say(`  jq '${body}' ${input} | curl ${url} -H 'content-type: application/json' -d @-`)
  }
}
