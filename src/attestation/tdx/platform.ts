// Whether processor, firmware and quoting enclave are as Intel says that they have to be.
import type { Bytes } from '../../protocol/hex.js'
import { hexText } from '../bytes.js'
import type { Certificate } from '../certificates.js'
import { contentOf, type Element, EXTENSIONS, INTEGER, OCTET_STRING, sequenceIn } from '../der.js'
import { demand } from '../errors.js'
import { littleEndian, type Quote } from './quote.js'

/** Members as Intel writes them; each may be missing, and nothing passes without it. */
interface Level {
  readonly tcb?: {
    readonly sgxtcbcomponents?: readonly Component[]
    readonly tdxtcbcomponents?: readonly Component[]
    readonly pcesvn?: number
    readonly isvsvn?: number
  }
  readonly tcbStatus?: string
}

interface Component {
  readonly svn?: number
}

interface Identity {
  readonly id?: string
  readonly mrsigner?: string
  readonly attributes?: string
  readonly attributesMask?: string
  readonly tcbLevels?: readonly Level[]
}

export interface TcbInfo {
  readonly id?: string
  readonly version?: number
  readonly issueDate?: string
  readonly nextUpdate?: string
  /** The kind of processor. */
  readonly fmspc?: string
  readonly pceId?: string
  readonly tdxModule?: Identity
  readonly tdxModuleIdentities?: readonly Identity[]
  readonly tcbLevels?: readonly Level[]
}

export interface QeIdentity extends Identity {
  readonly version?: number
  readonly issueDate?: string
  readonly nextUpdate?: string
  readonly miscselect?: string
  readonly miscselectMask?: string
  readonly isvprodid?: number
}

/** A machine's: `SEPT_VE_DISABLE` alone, as every one of dstack has it. */
const ATTRIBUTES = '0000001000000000'
/** DER of the object identifier of Intel's extension, without tag and length. */
const SGX = '2a864886f84d010d01'
const OBJECT_IDENTIFIER = 0x06
/** The ends of identifiers below it, in hex. */
const FIRMWARE = '02'
const PCE_SVN = '0211'
const PCE_ID = '03'
const FMSPC = '04'
/** More than any level asks for. */
const MAX_SVN = 255
const COMPONENTS = Array.from({ length: 16 }, (_, index) => `02${hexText(Uint8Array.of(index + 1))}`)

/**
 * @throws AttestationError `collateral-differs` where it is of another kind of processor, or `untrusted-platform` where a part is not
 *   Intel's, or its level is another than `UpToDate`
 */
export function judgePlatform(
  { machine, quoter }: Quote,
  processor: Certificate,
  { tcbInfo, qeIdentity }: { readonly tcbInfo: TcbInfo; readonly qeIdentity: QeIdentity },
): void {
  const { fmspc, pceId, svns, pceSvn } = firmwareOf(processor)
  demand(tcbInfo.id === 'TDX' && tcbInfo.version === 3, 'collateral-differs')
  demand(isSame(tcbInfo.fmspc, fmspc) && isSame(tcbInfo.pceId, pceId), 'collateral-differs')
  demand(qeIdentity.id === 'TD_QE' && qeIdentity.version === 2, 'collateral-differs')

  demand(hexText(machine.tdAttributes) === ATTRIBUTES, 'untrusted-platform')
  demandModule(machine, tcbInfo)
  const [, moduleVersion] = machine.teeTcbSvn
  demandUpToDate(tcbInfo.tcbLevels, ({ sgxtcbcomponents, tdxtcbcomponents, pcesvn }) => {
    const isAsNew = (components: readonly Component[] | undefined) => (svn: number, index: number) =>
      isAtLeast(svn, components?.[index]?.svn)
    // The first two are the module's own: from its version 1 on, its identity judges them.
    const ofMachine = [...machine.teeTcbSvn].map((svn, index) => (moduleVersion && index < 2 ? MAX_SVN : svn))
    return (
      svns.every(isAsNew(sgxtcbcomponents)) &&
      isAtLeast(pceSvn, pcesvn) &&
      ofMachine.every(isAsNew(tdxtcbcomponents))
    )
  })
  demandQuoter(quoter, qeIdentity)
}

/** The module of Intel that separates the machine from its host. */
function demandModule({ teeTcbSvn, mrSignerSeam, seamAttributes }: Quote['machine'], tcbInfo: TcbInfo): void {
  const [svn = 0, version = 0] = teeTcbSvn
  const name = `tdx_${hexText(Uint8Array.of(version))}`
  const module =
    version === 0 ? tcbInfo.tdxModule : tcbInfo.tdxModuleIdentities?.find(({ id }) => isSame(id, name))
  demand(isMadeBy(module, mrSignerSeam, seamAttributes), 'untrusted-platform')
  if (version > 0) demandUpToDate(module?.tcbLevels, ({ isvsvn }) => isAtLeast(svn, isvsvn))
}

function demandQuoter(quoter: Quote['quoter'], identity: QeIdentity): void {
  const isIntels =
    isMadeBy(identity, quoter.mrSigner, quoter.attributes) &&
    isMasked(quoter.miscSelect, identity.miscselect, identity.miscselectMask) &&
    littleEndian(quoter.productId) === identity.isvprodid
  demand(isIntels, 'untrusted-platform')
  const svn = littleEndian(quoter.svn)
  demandUpToDate(identity.tcbLevels, ({ isvsvn }) => isAtLeast(svn, isvsvn))
}

/** The first level that is reached counts: they are listed from the newest on. */
function demandUpToDate(
  levels: readonly Level[] | undefined,
  isReached: (tcb: NonNullable<Level['tcb']>) => boolean,
): void {
  const level = levels?.find(({ tcb }) => tcb !== undefined && isReached(tcb))
  demand(level?.tcbStatus === 'UpToDate', 'untrusted-platform')
}

function isAtLeast(svn: number, least: number | undefined): boolean {
  return least !== undefined && svn >= least
}

function isMadeBy(identity: Identity | undefined, signer: Bytes, attributes: Bytes): boolean {
  return (
    identity !== undefined &&
    isSame(identity.mrsigner, hexText(signer)) &&
    isMasked(attributes, identity.attributes, identity.attributesMask)
  )
}

/** Whether the bits of a mask are as wanted; both are hex of as many bytes. */
function isMasked(bytes: Bytes, wanted = '', mask = ''): boolean {
  const byteOf = (hex: string, index: number) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)
  const isWhole = wanted.length === bytes.length * 2 && mask.length === bytes.length * 2
  return isWhole && bytes.every((byte, index) => (byte & byteOf(mask, index)) === byteOf(wanted, index))
}

function isSame(intels: string | undefined, hex: string): boolean {
  return intels?.toLowerCase() === hex
}

/** What the processor's certificate says of its firmware. */
export function firmwareOf(processor: Certificate) {
  const values = valuesIn(extensionOf(processor))
  const firmware = valuesIn(values.get(FIRMWARE)?.whole)
  const numberOf = (name: string) =>
    contentOf(firmware.get(name), INTEGER).reduce((sum, byte) => sum * 256 + byte, 0)
  return {
    svns: COMPONENTS.map(numberOf),
    pceSvn: numberOf(PCE_SVN),
    fmspc: hexText(contentOf(values.get(FMSPC), OCTET_STRING)),
    pceId: hexText(contentOf(values.get(PCE_ID), OCTET_STRING)),
  }
}

/** The value of Intel's extension. */
function extensionOf(processor: Certificate): Bytes {
  const extensions = contentOf(sequenceIn(processor.signed).at(-1), EXTENSIONS)
  const parts = sequenceIn(extensions).map(({ whole }) => sequenceIn(whole))
  const found = parts.find(([name]) => name !== undefined && hexText(name.whole) === `0609${SGX}`)
  return contentOf(found?.at(-1), OCTET_STRING)
}

/** Values by the end of their object identifier, in hex. */
function valuesIn(sequence: Bytes | undefined): ReadonlyMap<string, Element> {
  demand(sequence !== undefined)
  const values = new Map<string, Element>()
  for (const pair of sequenceIn(sequence)) {
    const [name, value, ...others] = sequenceIn(pair.whole)
    const end = hexText(contentOf(name, OBJECT_IDENTIFIER)).slice(SGX.length)
    demand(value !== undefined && others.length === 0 && !values.has(end))
    values.set(end, value)
  }
  return values
}
