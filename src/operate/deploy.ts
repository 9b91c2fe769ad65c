/**
 * `npm run deploy`: deploys the five contracts and their authority to the chain of RPC_URL. Prints their addresses as
 * lines for the environments of server and enclave. Exits 1 and names every fault of the settings at once.
 */
import { JsonRpcProvider, Wallet } from 'ethers'
import { z } from 'zod'
import { ADDRESS_VARIABLES } from '../chain/contracts.js'
import { DEFAULT_DELAYS, deployContracts } from '../chain/deploy.js'
import { addressSchema } from '../protocol/address.js'
import { contractsSchema } from '../protocol/api.js'
import { bytes32Schema } from '../protocol/hex.js'
import { chainIdTextSchema } from '../protocol/identifiers.js'
import { requireNode } from '../service/version.js'

/** Whole seconds. An empty value counts as absent: coercion would make it 0, and these values are immutable. */
const seconds = (fallback: number) =>
  z.preprocess(
    (text) => (text === '' ? undefined : text),
    z.string().regex(/^\d+$/, 'expected whole seconds').transform(Number).default(fallback),
  )

const settingsSchema = z.object({
  RPC_URL: z.url({ protocol: /^https?$/ }),
  CHAIN_ID: chainIdTextSchema,
  DEPLOYER_PRIVATE_KEY: bytes32Schema,
  OWNER_ADDRESS: addressSchema,
  GUARDIAN_ADDRESS: addressSchema,
  ENCLAVE_SIGNER: addressSchema,
  USDC_ADDRESS: addressSchema,
  BROKER_FUNDING_ADDRESS: addressSchema,
  ROTATION_DELAY: seconds(DEFAULT_DELAYS.rotation),
  MAX_PAUSE: seconds(DEFAULT_DELAYS.pause),
  LEAVE_DELAY: seconds(DEFAULT_DELAYS.leave),
})

type Settings = z.output<typeof settingsSchema>

/** Faults of the settings; the message is complete. */
class SettingsError extends Error {}

function readSettings(): Settings {
  const settings = settingsSchema.safeParse(process.env)
  if (settings.success) return settings.data
  const faults = settings.error.issues.map(({ path: [name], message }) => {
    const missing = typeof name === 'string' && process.env[name] === undefined
    return `  ${String(name)}: ${missing ? 'is missing' : message}`
  })
  throw new SettingsError(`invalid settings:\n${faults.join('\n')}`)
}

async function checkChain(provider: JsonRpcProvider, expected: number): Promise<void> {
  const chainId = BigInt(await provider.send('eth_chainId', []))
  if (chainId !== BigInt(expected)) {
    throw new SettingsError(`CHAIN_ID is ${expected}, but the chain at RPC_URL is ${chainId}`)
  }
}

async function main(): Promise<void> {
  const env = readSettings()
  const provider = new JsonRpcProvider(env.RPC_URL, env.CHAIN_ID, {
    staticNetwork: true,
    pollingInterval: 500,
  })
  try {
    await checkChain(provider, env.CHAIN_ID)
    const addresses = await deployContracts({
      deployer: new Wallet(env.DEPLOYER_PRIVATE_KEY, provider),
      owner: env.OWNER_ADDRESS,
      guardian: env.GUARDIAN_ADDRESS,
      enclaveSigner: env.ENCLAVE_SIGNER,
      usdc: env.USDC_ADDRESS,
      brokerFunding: env.BROKER_FUNDING_ADDRESS,
      delays: {
        rotation: env.ROTATION_DELAY,
        pause: env.MAX_PAUSE,
        leave: env.LEAVE_DELAY,
      },
    })
    for (const name of contractsSchema.keyof().options) {
      console.log(`${ADDRESS_VARIABLES[name]}=${addresses[name]}`)
    }
  } finally {
    provider.destroy()
  }
}

/** An ethers error's message contains the whole transaction; its short message does not. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the deployment failed'
  return 'shortMessage' in cause ? String(cause.shortMessage) : cause.message
}

requireNode()
main().catch((cause: unknown) => {
  console.error(describe(cause))
  process.exitCode = 1
})
