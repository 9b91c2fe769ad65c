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
import type { Hex } from '../protocol/hex.js'
import { USDC_DECIMALS } from '../protocol/units.js'
import {
  confidentialLedgerBytecode,
  equityTokenBytecode,
  institutionRegistryBytecode,
  orderEscrowBytecode,
  platformPoolBytecode,
} from './generated/bytecode.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from './generated/equityTokenAbi.js'
import { institutionRegistryAbi } from './generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'
import { platformPoolAbi } from './generated/platformPoolAbi.js'
import { waitForReceipt } from './waitForReceipt.js'

export interface Deployment {
  /** Pays the gas; needs a provider, and no other transaction of its account under way. */
  deployer: Signer
  /** Sets the compliance flags, rotates the enclave's signer, moves the treasury. */
  owner: Hex
  /** The address of the enclave's signing key. */
  enclaveSigner: Hex
  /** A contract with 6 decimals. */
  usdc: Hex
  /** The only address that the pool's treasury can go to; it can never be changed. */
  brokerFunding: Hex
}

export type DeployErrorCode =
  | 'invalid-address'
  | 'usdc-not-a-contract'
  | 'usdc-decimals'
  | 'deployment-failed'
  | 'address-mismatch'

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
 * Deploys the five contracts in five transactions. They know one another by immutables: each one's address is
 * computed before from the deployer's nonce (CREATE), and the deployment aborts when one comes out elsewhere.
 *
 * @throws DeployError `invalid-address`, `usdc-not-a-contract` or `usdc-decimals` before anything is sent;
 *   `deployment-failed` or `address-mismatch` after: then what was deployed is of no use
 */
export async function deployContracts(deployment: Deployment): Promise<ContractAddresses> {
  const { deployer } = deployment
  const { provider } = deployer
  if (!provider) throw new TypeError('the deployer has no provider')
  checkAddresses(deployment)
  await checkUsdc(deployment.usdc, provider)
  const firstNonce = await deployer.getNonce('pending')
  const addresses = predict(await deployer.getAddress(), firstNonce)
  const sent = []
  // Sent in the order of their nonces, but none waits for the one before to be mined.
  for (const { name, address, factory, args } of constructions(deployment, addresses)) {
    const transaction = await factory.getDeployTransaction(...args)
    const { hash } = await deployer.sendTransaction({ ...transaction, nonce: firstNonce + sent.length })
    sent.push({ name, address, hash })
  }
  for (const { name, address, hash } of sent) {
    const receipt = await waitForReceipt(provider, hash)
    if (receipt?.status !== 1) throw new DeployError('deployment-failed', `${name} was not deployed`)
    if (receipt.contractAddress !== address) {
      throw new DeployError('address-mismatch', `${name} is at ${receipt.contractAddress}, not ${address}`)
    }
  }
  return addresses
}

function checkAddresses({ owner, enclaveSigner, usdc, brokerFunding }: Deployment): void {
  for (const [name, address] of Object.entries({ owner, enclaveSigner, usdc, brokerFunding })) {
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
  const token = new Contract(usdc, ['function decimals() view returns (uint256)'], provider)
  const decimals: unknown = await token
    .getFunction('decimals')
    .staticCall()
    .catch(() => 'none')
  if (decimals !== BigInt(USDC_DECIMALS)) {
    throw new DeployError(
      'usdc-decimals',
      `${usdc} has ${String(decimals)} decimals, USDC has ${USDC_DECIMALS}`,
    )
  }
}

/** The order of the deployment: the n-th gets the address of the deployer's n-th nonce from now. */
function predict(from: string, firstNonce: number): ContractAddresses {
  const at = (index: number): Hex => checksum(getCreateAddress({ from, nonce: firstNonce + index }))
  return {
    institutionRegistry: at(0),
    orderEscrow: at(1),
    confidentialLedger: at(2),
    equityToken: at(3),
    platformPool: at(4),
  }
}

function constructions(deployment: Deployment, addresses: ContractAddresses) {
  const { owner, enclaveSigner, usdc, brokerFunding, deployer } = deployment
  const { institutionRegistry, orderEscrow, confidentialLedger, equityToken, platformPool } = addresses
  return [
    {
      name: 'InstitutionRegistry',
      address: institutionRegistry,
      factory: new ContractFactory(institutionRegistryAbi, institutionRegistryBytecode, deployer),
      args: [],
    },
    {
      name: 'OrderEscrow',
      address: orderEscrow,
      factory: new ContractFactory(orderEscrowAbi, orderEscrowBytecode, deployer),
      args: [owner, enclaveSigner, usdc, institutionRegistry, confidentialLedger, equityToken, platformPool],
    },
    {
      name: 'ConfidentialLedger',
      address: confidentialLedger,
      factory: new ContractFactory(confidentialLedgerAbi, confidentialLedgerBytecode, deployer),
      args: [owner, enclaveSigner, orderEscrow, institutionRegistry],
    },
    {
      name: 'EquityToken',
      address: equityToken,
      factory: new ContractFactory(equityTokenAbi, equityTokenBytecode, deployer),
      args: [owner, platformPool],
    },
    {
      name: 'PlatformPool',
      address: platformPool,
      factory: new ContractFactory(platformPoolAbi, platformPoolBytecode, deployer),
      args: [owner, enclaveSigner, usdc, equityToken, orderEscrow, brokerFunding],
    },
  ]
}
