import {
  ContractFactory,
  Interface,
  type JsonRpcProvider,
  type Provider,
  type Signer,
  type TransactionRequest,
  Wallet,
} from 'ethers'
import { deployContracts } from '../chain/deploy.js'
import { interfaces } from '../chain/interfaces.js'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { formatUsdc } from '../protocol/units.js'
import type { SandboxAccount, SandboxAccounts } from './accounts.js'
import { testUsdcAbi, testUsdcBytecode } from './generated/testUsdc.js'
import { type DELAYS, EMPLOYEE_USDC, EQUITIES, INSTITUTION, type PrintStep } from './settings.js'

/** Deploys the test USDC, which anyone may mint, and returns its address. */
export async function deployTestUsdc(deployer: Signer, provider: Provider): Promise<Hex> {
  const factory = new ContractFactory(testUsdcAbi, testUsdcBytecode, deployer)
  const { hash } = await deployer.sendTransaction(await factory.getDeployTransaction())
  const receipt = await waitForReceipt(provider, hash)
  if (!receipt?.contractAddress) throw new Error('the test USDC was not deployed')
  return checksum(receipt.contractAddress)
}

/** A call to send. Its gas is not estimated, so it may depend on a call that is not mined yet. */
export interface Call {
  to: Hex
  abi: Interface
  method: string
  args: readonly unknown[]
}

const GAS_LIMIT = 500_000n

/**
 * Sends the calls of one account with consecutive nonces, mines them and resolves. The chain must not mine meanwhile where they are several:
 * a transaction that reaches anvil while the one before is mined can wait in its pool for good.
 */
export async function sendAll(
  provider: JsonRpcProvider,
  account: SandboxAccount,
  calls: readonly Call[],
): Promise<void> {
  const wallet = new Wallet(account.privateKey, provider)
  const first = await wallet.getNonce('pending')
  const sent = await Promise.all(
    calls.map(({ to, abi, method, args }, index) => {
      const data = abi.encodeFunctionData(method, args)
      return wallet.sendTransaction({ to, data, nonce: first + index, gasLimit: GAS_LIMIT })
    }),
  )
  await provider.send('evm_mine', [])
  const receipts = await Promise.all(sent.map(({ hash }) => waitForReceipt(provider, hash)))
  const failed = receipts.findIndex((receipt) => receipt?.status !== 1)
  if (failed >= 0) throw new Error(`${calls[failed]?.method} of ${account.address} reverted`)
}

/** The same signer, each of whose transactions is mined before the next is sent; `sendAll` says why. */
export function oneByOne<Kind extends Signer>(signer: Kind, provider: Provider): Kind {
  const send = signer.sendTransaction.bind(signer)
  return Object.assign(signer, {
    async sendTransaction(request: TransactionRequest) {
      const sent = await send(request)
      await waitForReceipt(provider, sent.hash)
      return sent
    },
  })
}

/**
 * Deploys a USDC, the five contracts and their authority. Lists the equities, clears and funds the employees, funds the newcomer,
 * founds and admits the institution, and has the employees join it.
 * The chain mines at once until the contracts are there, and from then on only what it is asked to.
 */
export async function populate(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  { enclaveSigner, delays }: { readonly enclaveSigner: Hex | null; readonly delays: typeof DELAYS },
  printStep: PrintStep,
) {
  const { owner, admin, employees, newcomer, guardian, brokerFunding } = accounts
  const deployer = oneByOne(new Wallet(accounts.deployer.privateKey, provider), provider)
  const usdc = await deployTestUsdc(deployer, provider)
  const { contracts, authority } = await deployContracts({
    ...{ deployer, enclaveSigner, usdc, delays },
    owner: owner.address,
    guardian: guardian.address,
    brokerFunding: brokerFunding.address,
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
  printStep(
    'institution',
    `"${INSTITUTION}" founded, ${EQUITIES.length} equities listed, ${wallets.length} employees invited`,
  )
  for (const employee of employees) await sendAll(provider, employee, [registry('join', orgId)])
  printStep('employees', `joined, KYC done, ${formatUsdc(EMPLOYEE_USDC)} in each wallet`)
  return { contracts, usdc, authority }
}
