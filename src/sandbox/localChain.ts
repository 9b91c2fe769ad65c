import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, JsonRpcProvider, Wallet } from 'ethers'
import { createOrderEscrow } from '../chain/contracts.js'
import { DEFAULT_DELAYS, deployContracts } from '../chain/deploy.js'
import { interfaces } from '../chain/interfaces.js'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import type { SandboxAccounts } from './accounts.js'
import { testUsdcAbi } from './generated/testUsdc.js'
import { DELAYS, EMPLOYEE_USDC, EQUITIES, INSTITUTION } from './settings.js'
import { deployTestUsdc } from './testUsdc.js'
import { type Call, sendAll } from './transactions.js'

const POLLING_MS = 50
const MINING_MS = 20

const usdcInterface = new Interface(testUsdcAbi)

/** A provider for the local chain that notices new blocks quickly. */
export function localProvider(rpcUrl: string, chainId: number): JsonRpcProvider {
  return new JsonRpcProvider(rpcUrl, chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: POLLING_MS,
  })
}

/** Mines a block every few milliseconds until the work is done, besides those that the chain mines by itself. */
export async function whileMining<T>(provider: JsonRpcProvider, work: () => Promise<T>): Promise<T> {
  let isDone = false
  const mine = async () => {
    while (!isDone) {
      await provider.send('evm_mine', [])
      await sleep(MINING_MS)
    }
  }
  const [result] = await Promise.all([
    work().finally(() => {
      isDone = true
    }),
    mine(),
  ])
  return result
}

/** The contracts' delays that are others than a deployment's by default, in the words of `differencesOf`. */
export function delayDifferences(): string[] {
  const delays = ['rotation', 'pause', 'leave'] as const
  return delays.flatMap((name) =>
    DELAYS[name] === DEFAULT_DELAYS[name] ? [] : [`${name}=${DELAYS[name]}s [${DEFAULT_DELAYS[name]}s]`],
  )
}

/** The contracts of a sandbox, their authority, and its USDC. */
export type Deployed = Awaited<ReturnType<typeof deployAll>>

/** Deploys USDC, the five contracts and their authority. */
export async function deployAll(provider: JsonRpcProvider, accounts: SandboxAccounts, enclaveSigner: Hex) {
  const deployer = new Wallet(accounts.deployer.privateKey, provider)
  const usdc = await deployTestUsdc(deployer, provider)
  const contracts = await deployContracts({
    deployer,
    owner: accounts.owner.address,
    guardian: accounts.guardian.address,
    enclaveSigner,
    usdc,
    brokerFunding: accounts.brokerFunding.address,
    delays: DELAYS,
  })
  const authority = await createOrderEscrow(provider, contracts.orderEscrow).authority()
  return { contracts, usdc, authority }
}

/**
 * Sets up the institution: lists the equities, clears and funds the employees, funds the newcomer, founds and admits
 * the institution, and invites the employees.
 */
export async function foundInstitution(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  deployed: Deployed,
): Promise<void> {
  const { contracts, usdc } = deployed
  const wallets = accounts.employees.map(({ address }) => address)
  const token = (method: string, ...args: unknown[]): Call => ({
    to: contracts.equityToken,
    abi: interfaces.equityToken,
    method,
    args,
  })
  const registry = registryCalls(contracts)
  const orgId = nameToBytes32(INSTITUTION)
  await Promise.all([
    sendAll(provider, accounts.owner, [
      ...EQUITIES.map(({ symbol }) => token('setListed', nameToBytes32(symbol), true)),
      ...wallets.map((wallet) => token('setKyc', wallet, true)),
      ...[...wallets, accounts.newcomer.address].map((wallet) => ({
        to: usdc,
        abi: usdcInterface,
        method: 'mint',
        args: [wallet, EMPLOYEE_USDC],
      })),
    ]),
    sendAll(provider, accounts.admin, [registry('registerInstitution', orgId)]),
  ])
  await sendAll(provider, accounts.owner, [registry('setAdmitted', orgId, accounts.admin.address, true)])
  await sendAll(
    provider,
    accounts.admin,
    wallets.map((wallet) => registry('setMember', wallet, true)),
  )
}

/** Every employee accepts the invitation. */
export async function joinInstitution(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  { contracts }: Deployed,
): Promise<void> {
  const join = registryCalls(contracts)('join', nameToBytes32(INSTITUTION))
  await Promise.all(accounts.employees.map((employee) => sendAll(provider, employee, [join])))
}

function registryCalls({ institutionRegistry }: ContractAddresses) {
  return (method: string, ...args: unknown[]): Call => ({
    to: institutionRegistry,
    abi: interfaces.institutionRegistry,
    method,
    args,
  })
}
