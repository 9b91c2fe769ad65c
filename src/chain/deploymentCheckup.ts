import type { InterfaceAbi, Provider } from 'ethers'
import { sameAddress } from '../protocol/address.js'
import { type ContractAddresses, contractsSchema } from '../protocol/api.js'
import { type Finding, fault, ok, unchecked } from '../protocol/finding.js'
import type { Hex } from '../protocol/hex.js'
import { ADDRESS_VARIABLES } from './addressVariables.js'
import { createContractReader } from './contractReader.js'
import { ChainAnswerError } from './errors.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from './generated/equityTokenAbi.js'
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

/** Who names whom, by immutables. The registry names nobody, and is named by two. */
const LINKED: readonly Linked[] = [
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
    links: { escrow: 'orderEscrow', registry: 'institutionRegistry' },
  },
  { contract: 'equityToken', abi: equityTokenAbi, links: { pool: 'platformPool' } },
  {
    contract: 'platformPool',
    abi: platformPoolAbi,
    links: { escrow: 'orderEscrow', token: 'equityToken' },
  },
]

/** Those that take the enclave's authorizations. */
const AUTHORIZED = LINKED.filter(({ contract }) => contract !== 'equityToken')

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
  if (code.some(({ result }) => result === 'fault')) {
    return [...code, unchecked('contract-links', notAsked), unchecked('enclave-signer', notAsked)]
  }
  const links = await Promise.all(LINKED.map((linked) => checkLinks(options, linked)))
  if (links.some(({ result }) => result === 'fault')) {
    return [...code, ...links, unchecked('enclave-signer', notAsked)]
  }
  return [...code, ...links, ...(await Promise.all(AUTHORIZED.map((each) => checkSigner(options, each))))]
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

async function checkSigner(
  { provider, addresses, signer, signerName }: DeploymentCheckupOptions,
  { contract, abi }: Linked,
): Promise<Finding> {
  const reader = createContractReader(provider, addresses[contract], abi)
  const [current, proposed] = await Promise.all([
    reader.read('enclaveSigner', [], addressValue),
    reader.read('pendingEnclaveSigner', [], addressValue),
  ])
  const variable = ADDRESS_VARIABLES[contract]
  if (sameAddress(current, signer))
    return ok('enclave-signer', `${variable}: its enclave signer is the configured one`)
  const mend = sameAddress(proposed, signer)
    ? 'it is proposed already: the owner has to call confirmEnclaveSigner'
    : 'correct it, or have the owner propose and confirm it'
  return fault(
    'enclave-signer',
    `${variable}: its enclaveSigner is ${current}, ${signerName} is ${signer}: ${mend}`,
  )
}
