import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Creation } from '../chain/deploy.js'
import { compiler } from '../chain/generated/compiler.js'
import type { Speech } from './io.js'

/** The build writes the compiler's input of each contract here. */
const INPUTS = 'dist/contracts'

/** Writes `deployments/<chainId>.json`, what explorers need to verify the contracts, and says how to have them verified. */
export function recordCreations(
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
