import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestChain } from '../support/chain.js'
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
