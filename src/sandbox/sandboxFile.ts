import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { SandboxAccounts } from './accounts.js'
import type { Places, ServerPlace } from './envFiles.js'
import { EQUITIES } from './settings.js'

/** What `sandbox.json` says, for scripts. */
export interface SandboxFile {
  url: string
  opsUrl: string
  /** Where several share a database. */
  servers?: ServerPlace[]
  rpcUrl: string
  brokerUrl: string
  /** Of the enclave, unless the server starts it. */
  enclaveUrl?: string
  /** Of the page to trade on, where it is served. */
  deskUrl?: string
  chainId: number
  contracts: ContractAddresses & { usdc: Hex }
  symbols: string[]
  accounts: Pick<SandboxAccounts, 'owner' | 'admin' | 'employees' | 'newcomer'>
}

export function describeSandbox(places: Places, usdc: Hex, accounts: SandboxAccounts): SandboxFile {
  const { url, servers, rpcUrl, brokerUrl, enclaveUrl, deskUrl, chainId, contracts } = places
  const { owner, admin, employees, newcomer } = accounts
  return {
    url,
    opsUrl: servers[0].opsUrl,
    ...(servers.length > 1 && { servers: [...servers] }),
    rpcUrl,
    brokerUrl,
    ...(enclaveUrl !== undefined && { enclaveUrl }),
    ...(deskUrl !== undefined && { deskUrl }),
    chainId,
    contracts: { ...contracts, usdc },
    symbols: EQUITIES.map(({ symbol }) => symbol),
    accounts: { owner, admin, employees, newcomer },
  }
}

/** Leaves `sandbox.json` in the sandbox's directory. */
export function writeSandboxFile(directory: string, file: SandboxFile): Promise<void> {
  return writeFile(join(directory, 'sandbox.json'), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
}
