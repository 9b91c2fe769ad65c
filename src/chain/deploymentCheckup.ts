import type { InterfaceAbi, Provider } from 'ethers'
import { sameAddress } from '../protocol/address.js'
import { type ContractAddresses, contractsSchema } from '../protocol/api.js'
import { type Finding, fault, ok, unchecked } from '../protocol/finding.js'
import type { Hex } from '../protocol/hex.js'
import { ADDRESS_VARIABLES } from './addressVariables.js'
import { checkAuthority } from './authorityCheckup.js'
import { createContractReader } from './contractReader.js'
import { ChainAnswerError } from './errors.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from './generated/equityTokenAbi.js'
import { institutionRegistryAbi } from './generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'
import { platformPoolAbi } from './generated/platformPoolAbi.js'
import { addressValue } from './values.js'

type ContractName = keyof ContractAddresses

interface Linked {
  readonly contract: ContractName
  readonly abi: InterfaceAbi
  /** Views that name one of the other four. */
  readonly links: Readonly<Record<string, ContractName>>
}

/** Who names whom, by immutables. */
const LINKED: readonly Linked[] = [
  {
    contract: 'institutionRegistry',
    abi: institutionRegistryAbi,
    links: { pool: 'platformPool' },
  },
  {
    contract: 'orderEscrow',
    abi: orderEscrowAbi,
    links: {
      registry: 'institutionRegistry',
      ledger: 'confidentialLedger',
      token: 'equityToken',
      pool: 'platformPool',
    },
  },
  {
    contract: 'confidentialLedger',
    abi: confidentialLedgerAbi,
    links: { escrow: 'orderEscrow', registry: 'institutionRegistry', pool: 'platformPool' },
  },
  {
    contract: 'equityToken',
    abi: equityTokenAbi,
    links: { pool: 'platformPool', escrow: 'orderEscrow' },
  },
  {
    contract: 'platformPool',
    abi: platformPoolAbi,
    links: { escrow: 'orderEscrow', token: 'equityToken' },
  },
]

interface DeploymentCheckupOptions {
  readonly provider: Provider
  readonly addresses: ContractAddresses
  readonly signer: Hex
  /** What the configuration calls the signer. */
  readonly signerName: string
}

/**
 * Whether the five addresses are the five contracts of one deployment, and take what this signer signs. A contract
 * that another one stands in the place of is a fault of its own line.
 * @throws ChainUnavailableError
 */
export async function checkDeployment(options: DeploymentCheckupOptions): Promise<Finding[]> {
  const code = await checkCode(options)
  const notAsked = 'not asked before the faults above are mended'
  const unasked = [unchecked('authority', notAsked), unchecked('enclave-signer', notAsked)]
  if (code.some(({ result }) => result === 'fault')) {
    return [...code, unchecked('contract-links', notAsked), ...unasked]
  }
  const links = await Promise.all(LINKED.map((linked) => checkLinks(options, linked)))
  if (links.some(({ result }) => result === 'fault')) return [...code, ...links, ...unasked]
  const [authority, ...others] = await distinctAuthorities(options)
  if (authority === undefined || others.length > 0) {
    return [...code, ...links, twoAuthorities([authority, ...others]), unchecked('enclave-signer', notAsked)]
  }
  return [...code, ...links, ...(await checkAuthority({ ...options, authority }))]
}

/** One, unless the contracts are of several deployments. */
async function distinctAuthorities({ provider, addresses }: DeploymentCheckupOptions): Promise<Hex[]> {
  const named = LINKED.map(({ contract, abi }) =>
    createContractReader(provider, addresses[contract], abi).read('authority', [], addressValue),
  )
  return [...new Set(await Promise.all(named))]
}

function twoAuthorities(authorities: readonly (Hex | undefined)[]): Finding {
  return fault(
    'authority',
    `the contracts obey different authorities, ${authorities.join(' and ')}: take all five of one deployment`,
  )
}

async function checkCode({ provider, addresses }: DeploymentCheckupOptions): Promise<Finding[]> {
  const names = contractsSchema.keyof().options
  const codes = await Promise.all(names.map((name) => provider.getCode(addresses[name])))
  const faults = names
    .filter((_, index) => codes[index] === '0x')
    .map((name) =>
      fault(
        'contract-code',
        `${ADDRESS_VARIABLES[name]}: there is no contract at ${addresses[name]}: take the address that the \
deployment on this chain printed`,
      ),
    )
  return faults.length > 0
    ? faults
    : [ok('contract-code', 'there is a contract at each of the five addresses')]
}

async function checkLinks(
  { provider, addresses }: DeploymentCheckupOptions,
  { contract, abi, links }: Linked,
): Promise<Finding> {
  const variable = ADDRESS_VARIABLES[contract]
  const reader = createContractReader(provider, addresses[contract], abi)
  const reads = Object.entries(links).map(async ([view, name]) => ({
    name,
    found: await reader.read(view, [], addressValue),
  }))
  try {
    const wrong = (await Promise.all(reads)).filter(({ name, found }) => !sameAddress(found, addresses[name]))
    if (wrong.length === 0) return ok('contract-links', `${variable}: names its siblings as configured`)
    const named = wrong.map(({ name, found }) => `${ADDRESS_VARIABLES[name]} ${found}`)
    return fault(
      'contract-links',
      `${variable}: this contract was deployed with ${named.join(', ')}: take all five of one deployment`,
    )
  } catch (error) {
    if (!(error instanceof ChainAnswerError)) throw error
    return fault(
      'contract-links',
      `${variable}: the contract at ${addresses[contract]} is another one, or the nodes refuse to call it: are two addresses swapped?`,
    )
  }
}
