import { ContractFactory, Interface, type JsonRpcProvider, type Provider, type Signer, Wallet } from 'ethers'
import { type Deployment, deployContracts } from '../chain/deploy.js'
import { interfaces } from '../chain/interfaces.js'
import { toQuantity } from '../chain/jsonRpc.js'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { formatUsdc } from '../protocol/units.js'
import type { SandboxAccount, SandboxAccounts } from './accounts.js'
import type { Anvil } from './anvil.js'
import { testUsdcAbi, testUsdcBytecode } from './generated/testUsdc.js'
import { EMPLOYEE_USDC, EQUITIES, INSTITUTION, type PrintStep } from './settings.js'

/** Deploys the test USDC, which anyone may mint, and returns its address. */
export async function deployTestUsdc(deployer: Signer, provider: Provider): Promise<Hex> {
  const factory = new ContractFactory(testUsdcAbi, testUsdcBytecode, deployer)
  const { hash } = await deployer.sendTransaction(await factory.getDeployTransaction())
  const receipt = await waitForReceipt(provider, hash)
  if (!receipt?.contractAddress) throw new Error('the test USDC was not deployed')
  return checksum(receipt.contractAddress)
}

/** A call to send. Its gas is not estimated, so it may depend on a call that is not mined yet. */
export type Call = { to: Hex; abi: Interface; method: string; args: readonly unknown[] }

const GAS_LIMIT = toQuantity(500_000)

/**
 * Sends the calls of an account, and resolves once they are mined. While it sends several, nothing else may mine: a transaction that
 * reaches anvil while the one before is mined can stay in its pool.
 */
export async function sendAll(
  provider: JsonRpcProvider,
  { address: from }: Pick<SandboxAccount, 'address'>,
  calls: readonly Call[],
): Promise<void> {
  const sent: string[] = []
  for (const { to, abi, method, args } of calls) {
    const data = abi.encodeFunctionData(method, args)
    sent.push(await provider.send('eth_sendTransaction', [{ from, to, data, gas: GAS_LIMIT }]))
  }
  await provider.send('evm_mine', [])
  const receipts = await Promise.all(sent.map((hash) => waitForReceipt(provider, hash)))
  const failed = receipts.findIndex((receipt) => receipt?.status !== 1)
  if (failed >= 0) throw new Error(`${calls[failed]?.method} of ${from} reverted`)
}

/** The same signer, each of whose transactions is mined before the next is sent; `sendAll` says why. */
export function oneByOne<Kind extends Signer>(signer: Kind, provider: Provider): Kind {
  const send = signer.sendTransaction.bind(signer)
  signer.sendTransaction = async (request) => {
    const sent = await send(request)
    await waitForReceipt(provider, sent.hash)
    return sent
  }
  return signer
}

/**
 * Deploys a USDC, the five contracts and their authority. Lists the equities, clears and funds the employees, funds the newcomer,
 * founds and admits the institution, and has the employees join it.
 * The chain mines at once until the contracts are there, and from then on only what it is asked to.
 */
export async function populate(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  printStep: PrintStep,
  signerAndDelays: Pick<Deployment, 'enclaveSigner' | 'delays'>,
) {
  const { owner, admin, employees, newcomer } = accounts
  const deployer = oneByOne(new Wallet(accounts.deployer.privateKey, provider), provider)
  const usdc = await deployTestUsdc(deployer, provider)
  const { contracts, authority } = await deployContracts({
    ...{ deployer, usdc, owner: owner.address, guardian: accounts.guardian.address },
    ...{ brokerFunding: accounts.brokerFunding.address, ...signerAndDelays },
  })
  printStep('contracts', 'five deployed, and a test USDC')
  await provider.send('evm_setAutomine', [false])
  const callOf =
    (to: Hex, abi: Interface) =>
    (method: string, ...args: unknown[]): Call => ({ to, abi, method, args })
  const mint = callOf(usdc, new Interface(testUsdcAbi))
  const token = callOf(contracts.equityToken, interfaces.equityToken)
  const registry = callOf(contracts.institutionRegistry, interfaces.institutionRegistry)
  const wallets = employees.map(({ address }) => address)
  const orgId = nameToBytes32(INSTITUTION)
  await sendAll(provider, owner, [
    ...EQUITIES.map(({ symbol }) => token('setListed', nameToBytes32(symbol), true)),
    ...wallets.map((wallet) => token('setKyc', wallet, true)),
    ...[...wallets, newcomer.address].map((wallet) => mint('mint', wallet, EMPLOYEE_USDC)),
  ])
  await sendAll(provider, admin, [registry('registerInstitution', orgId)])
  await sendAll(provider, owner, [registry('setAdmitted', orgId, admin.address, true)])
  const invitations = wallets.map((wallet) => registry('setMember', wallet, true))
  await sendAll(provider, admin, invitations)
  const done = `${EQUITIES.length} equities listed, ${wallets.length} employees invited`
  printStep('institution', `"${INSTITUTION}" founded, ${done}`)
  for (const employee of employees) await sendAll(provider, employee, [registry('join', orgId)])
  printStep('employees', `joined, KYC done, ${formatUsdc(EMPLOYEE_USDC)} in each wallet`)
  return { contracts, usdc, authority }
}

/** The addresses of a sandbox's parts, and its deployment: the content of `sandbox.json`, for scripts. */
export type SandboxFile = ReturnType<typeof fileOf>

export function fileOf(
  ports: Record<'server' | 'ops' | 'relay' | 'enclave', number> & { desk?: number },
  { rpcUrl, chainId }: Anvil,
  brokerUrl: string,
  { contracts, usdc }: Awaited<ReturnType<typeof populate>>,
  { owner, admin, employees, newcomer }: SandboxAccounts,
) {
  const at = (port: number) => `http://127.0.0.1:${port}`
  return {
    url: at(ports.server),
    opsUrl: at(ports.ops),
    /** Where the enclave reaches the server. */
    relayUrl: at(ports.relay),
    rpcUrl,
    brokerUrl,
    enclaveUrl: at(ports.enclave),
    /** The trading page's URL, if it is served. */
    deskUrl: ports.desk === undefined ? undefined : `http://localhost:${ports.desk}`,
    chainId,
    contracts: { ...contracts, usdc },
    symbols: EQUITIES.map(({ symbol }) => symbol),
    accounts: { owner, admin, employees, newcomer },
  }
}
