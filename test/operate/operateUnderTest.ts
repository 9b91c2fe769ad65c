import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { ROLES, type Role } from '../support/roles.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

export function keyOf({ anvil }: TestChain, role: Role): string {
  return anvil.accounts[ROLES.indexOf(role)]?.privateKey ?? ''
}

/** A directory with the chain's deployment.json. */
export async function directoryOf(chain: TestChain, changes: object = {}): Promise<string> {
  const directory = await temporaryDirectory()
  const deployment = {
    ...{ chainId: 31337, contracts: chain.addresses, firstBlock: 0 },
    ...{ authority: chain.addressOf('authority'), usdc: chain.addressOf('usdc'), ...changes },
  }
  await writeFile(join(directory, 'deployment.json'), JSON.stringify(deployment))
  return directory
}

/** A directory with keys, and the broker's in their files. */
export async function withKeys(): Promise<string> {
  const directory = await temporaryDirectory()
  await operate(['keys', '--operator', '--yes', '--directory', directory])
  for (const holder of ['server', 'enclave']) {
    for (const name of ['alpaca-key-id', 'alpaca-secret-key']) {
      await writeFile(join(directory, 'secrets', holder, name), `${holder}-${name}\n`, { mode: 0o600 })
    }
  }
  return directory
}

/** All that `operate deploy` needs of a chain. */
export const deploySettings = (chain: TestChain) => ({
  RPC_URL: chain.anvil.rpcUrl,
  ENCLAVE_RPC_URL: chain.anvil.rpcUrl,
  CHAIN_ID: '31337',
  USDC_ADDRESS: chain.addressOf('usdc'),
  BROKER_FUNDING_ADDRESS: chain.account('broker'),
  DEPLOYER_PRIVATE_KEY: keyOf(chain, 'deployer'),
})

export const deployOn = (chain: TestChain, directory: string, env: Record<string, string> = {}) =>
  operate(['deploy', '--yes', '--directory', directory], { env: { ...deploySettings(chain), ...env } })
