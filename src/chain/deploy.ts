import {
  Contract,
  ContractFactory,
  getAddress,
  getCreateAddress,
  isAddress,
  type Provider,
  type Signer,
} from 'ethers'
import { checksum, ZERO_ADDRESS } from '../protocol/address.js'
import type { ContractAddresses } from '../protocol/api.js'
import { type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { firstCreationOf } from '../protocol/identifiers.js'
import { RECLAIM_DELAY } from '../protocol/reclaimDelay.js'
import { USDC_DECIMALS } from '../protocol/units.js'
import * as bytecodes from './generated/bytecode.js'
import { interfaces } from './interfaces.js'
import { waitForReceipt } from './waitForReceipt.js'

export interface Deployment {
  /** Pays the gas; needs a provider, and no other transaction of its account under way. */
  deployer: Signer
  /** Sets the compliance flags, admits institutions, rotates the roles, moves the treasury. */
  owner: Hex
  /** Can pause openings and the enclave's authorizations, and nothing else. */
  guardian: Hex
  /** The address of the enclave's signing key; null for an attested enclave, whose key is born after the deployment. */
  enclaveSigner: Hex | null
  /** A contract with 6 decimals and EIP-3009. */
  usdc: Hex
  /** The only address that the pool's treasury can go to; it can never be changed. */
  brokerFunding: Hex
  /** Seconds; they can never be changed. Required: rotation < pause < 7 days, when orders can be reclaimed. */
  delays: {
    /** From the owner's call until a new owner, guardian or signer takes over. */
    rotation: number
    /** How long a pause lasts. */
    pause: number
    /** From a member's leaving until it has left; 30 days at most. */
    leave: number
  }
}

/** A contract's creation, as an explorer needs it. */
export interface Creation {
  /** Its name in `contracts/`. */
  readonly contract: string
  readonly address: Hex
  readonly transactionHash: string
  readonly constructorArguments: string
}

export interface Deployed {
  readonly contracts: ContractAddresses
  readonly authority: Hex
  readonly creations: readonly Creation[]
}

/** The default delays of a deployment: two days to see a rotation, three to pause, seven to leave. */
export const DEFAULT_DELAYS: Deployment['delays'] = {
  rotation: 2 * 86_400,
  pause: 3 * 86_400,
  leave: 7 * 86_400,
}

type DeployErrorCode =
  | 'invalid-address'
  | 'invalid-delays'
  | 'usdc-not-a-contract'
  | 'usdc-decimals'
  | 'usdc-authorizations'
  | 'deployment-failed'
  | 'address-mismatch'

/** The longest that leaving may take, in seconds, as in `InstitutionRegistry`. */
const MAX_LEAVE_DELAY = 30 * 86_400

/** A deployment that must not be used, or was not begun. */
export class DeployError extends Error {
  override readonly name = 'DeployError'

  constructor(
    readonly code: DeployErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Deploys the five contracts of the configuration and their `Authority` in six transactions; the ledger creates `CorporateActions`. They
 * know one another by immutables: each one's address is computed before from the deployer's nonce (CREATE), and the deployment aborts when
 * one comes out elsewhere.
 *
 * @throws DeployError `invalid-address`, `invalid-delays`, `usdc-not-a-contract`, `usdc-decimals` or `usdc-authorizations`
 *   before anything is sent; `deployment-failed` or `address-mismatch` after: then what was deployed is of no use
 */
export async function deployContracts(deployment: Deployment): Promise<Deployed> {
  const { deployer } = deployment
  const { provider } = deployer
  if (!provider) throw new TypeError('the deployer has no provider')
  checkAddresses(deployment)
  checkDelays(deployment.delays)
  await checkUsdc(deployment.usdc, provider)
  const firstNonce = await deployer.getNonce('pending')
  const addresses = predict(await deployer.getAddress(), firstNonce)
  const creations: Creation[] = []
  // Sent in the order of their nonces, but none waits for the one before to be mined.
  const args = argumentsOf(deployment, addresses)
  for (const name of ORDER) {
    const factory = new ContractFactory(interfaces[name], BYTECODES[`${name}Bytecode`], deployer)
    const transaction = await factory.getDeployTransaction(...args[name])
    const { hash } = await deployer.sendTransaction({ ...transaction, nonce: firstNonce + creations.length })
    creations.push({
      contract: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      address: addresses[name],
      transactionHash: hash,
      constructorArguments: interfaces[name].encodeDeploy(args[name]),
    })
  }
  for (const { contract, address, transactionHash } of creations) {
    const receipt = await waitForReceipt(provider, transactionHash)
    if (receipt?.status !== 1) throw new DeployError('deployment-failed', `${contract} was not deployed`)
    if (receipt.contractAddress !== address) {
      throw new DeployError(
        'address-mismatch',
        `${contract} is at ${receipt.contractAddress}, not ${address}`,
      )
    }
  }
  const { authority, ...contracts } = addresses
  const created = creations.flatMap((one) => createdBy(one, deployment.usdc, addresses))
  return { contracts, authority, creations: [...creations, ...created] }
}

/** `ConfidentialLedger` creates the list of corporate actions in its constructor, `EquityToken` the implementation of all shares. */
function createdBy(
  { address: from, transactionHash }: Creation,
  usdc: Hex,
  { authority, confidentialLedger, equityToken, platformPool }: Addresses,
): Creation[] {
  const created = { address: firstCreationOf(from), transactionHash }
  if (from === confidentialLedger) {
    const constructorArguments = interfaces.corporateActions.encodeDeploy([authority, equityToken])
    return [{ contract: 'CorporateActions', ...created, constructorArguments }]
  }
  if (from !== equityToken) return []
  const shares = [from, firstCreationOf(confidentialLedger), usdc, platformPool]
  const constructorArguments = interfaces.equityShares.encodeDeploy(shares)
  return [{ contract: 'EquityShares', ...created, constructorArguments }]
}

function checkDelays({ rotation, pause, leave }: Deployment['delays']): void {
  const whole = [rotation, pause, leave].every((seconds) => Number.isSafeInteger(seconds) && seconds >= 0)
  if (whole && rotation < pause && pause < RECLAIM_DELAY && leave <= MAX_LEAVE_DELAY) return
  throw new DeployError(
    'invalid-delays',
    `"delays" expected whole seconds with rotation < pause < ${RECLAIM_DELAY} and leave <= ${MAX_LEAVE_DELAY}, got rotation ${rotation}, pause ${pause}, leave ${leave}`,
  )
}

function checkAddresses({ owner, guardian, enclaveSigner, usdc, brokerFunding }: Deployment): void {
  for (const [name, address] of Object.entries({ owner, guardian, enclaveSigner, usdc, brokerFunding })) {
    if (address === null) continue
    if (!isAddress(address) || getAddress(address) === ZERO_ADDRESS) {
      throw new DeployError(
        'invalid-address',
        `"${name}" expected an address that is not zero, got ${address}`,
      )
    }
  }
}

async function checkUsdc(usdc: Hex, provider: Provider): Promise<void> {
  if ((await provider.getCode(usdc)) === '0x') {
    throw new DeployError('usdc-not-a-contract', `there is no contract at ${usdc}`)
  }
  const token = new Contract(
    usdc,
    [
      'function decimals() view returns (uint256)',
      'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
    ],
    provider,
  )
  const ask = (view: string, ...args: unknown[]): Promise<unknown> =>
    token
      .getFunction(view)
      .staticCall(...args)
      .catch(() => 'none')
  const decimals = await ask('decimals')
  if (decimals !== BigInt(USDC_DECIMALS)) {
    throw new DeployError(
      'usdc-decimals',
      `${usdc} has ${String(decimals)} decimals, USDC has ${USDC_DECIMALS}`,
    )
  }
  // A fallback function that accepts every call would open sponsored buys without a payment.
  if ((await ask('authorizationState', usdc, ZERO_BYTES32)) !== false) {
    throw new DeployError('usdc-authorizations', `${usdc} has no EIP-3009, USDC has`)
  }
}

const BYTECODES = { ...bytecodes }

/** The order of the deployment: the n-th gets the address of the deployer's n-th nonce from now. */
const ORDER = [
  'authority',
  'institutionRegistry',
  'orderEscrow',
  'confidentialLedger',
  'equityToken',
  'platformPool',
] as const
type Addresses = Record<(typeof ORDER)[number], Hex>

function predict(from: string, firstNonce: number): Addresses {
  const at = (name: (typeof ORDER)[number]) =>
    checksum(getCreateAddress({ from, nonce: firstNonce + ORDER.indexOf(name) }))
  return {
    authority: at('authority'),
    institutionRegistry: at('institutionRegistry'),
    orderEscrow: at('orderEscrow'),
    confidentialLedger: at('confidentialLedger'),
    equityToken: at('equityToken'),
    platformPool: at('platformPool'),
  }
}

/** What each contract's constructor takes. */
function argumentsOf(deployment: Deployment, addresses: Addresses) {
  const { owner, guardian, enclaveSigner, usdc, brokerFunding, delays } = deployment
  const { authority, institutionRegistry, orderEscrow, confidentialLedger, equityToken, platformPool } =
    addresses
  const common = [authority, usdc, platformPool]
  return {
    authority: [
      owner,
      guardian,
      enclaveSigner ?? ZERO_ADDRESS,
      delays.rotation,
      delays.pause,
      usdc,
      platformPool,
    ],
    institutionRegistry: [...common, confidentialLedger, delays.leave],
    orderEscrow: [...common, institutionRegistry, confidentialLedger, equityToken],
    confidentialLedger: [...common, orderEscrow, institutionRegistry, equityToken],
    equityToken: [...common, orderEscrow, firstCreationOf(confidentialLedger)],
    platformPool: [authority, usdc, equityToken, orderEscrow, brokerFunding],
  }
}
