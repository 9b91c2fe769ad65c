// The registers of a Nitro Enclave's image. https://github.com/aws/aws-nitro-enclaves-image-format
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Registers } from '../../attestation/nitro.js'
import { CommandError } from '../../terminal/failure.js'

const HEADER_BYTES = 548
const SECTION_COUNT_AT = 26
/** The last field of the header: the CRC of everything else. */
const CRC_AT = HEADER_BYTES - 4
const SECTION_HEADER_BYTES = 12
const MAGIC = '.eif'
const [KERNEL, COMMAND_LINE, RAMDISK, SIGNATURE, METADATA] = [1, 2, 3, 4, 5]

/**
 * PCR 0, 1 and 2, in hex: the image, its kernel with the first ramdisk, and the further ramdisks. Metadata is in none of them.
 * @throws CommandError `image-malformed`, also for an image that is signed: its PCR 8 is not computed
 */
export function registersOfEif(image: Buffer): Registers {
  const sections = sectionsOf(image)
  const ramdisks = sections.filter(({ type }) => type === RAMDISK)
  const boot = sections.filter(({ type }) => type === KERNEL || type === COMMAND_LINE)
  if (boot.length !== 2 || ramdisks.length === 0)
    throw malformed('it has no kernel, command line and ramdisk')
  // The hypervisor hashes in the order of the file, which is that of the tools: kernel, command line, ramdisks.
  const measured = sections.filter(({ type }) => type !== METADATA)
  return {
    0: register(measured),
    1: register(measured.filter(({ type }, at) => type !== RAMDISK || measured[at] === ramdisks[0])),
    2: register(ramdisks.slice(1)),
  }
}

interface Section {
  readonly type: number
  readonly content: Buffer
}

function sectionsOf(image: Buffer): readonly Section[] {
  const isWhole = image.length > HEADER_BYTES && image.subarray(0, 4).toString('latin1') === MAGIC
  if (!isWhole) throw malformed('it is no image of a Nitro Enclave')
  const crc = crc32(image.subarray(HEADER_BYTES), crc32(image.subarray(0, CRC_AT)))
  if (crc !== image.readUInt32BE(CRC_AT)) throw malformed('its checksum is wrong')
  const sections: Section[] = []
  for (let at = HEADER_BYTES; at < image.length; ) {
    if (image.length - at < SECTION_HEADER_BYTES) throw malformed('its last section is cut off')
    const [type, size] = [image.readUInt16BE(at), image.readBigUInt64BE(at + 4)]
    const from = at + SECTION_HEADER_BYTES
    if (size > image.length - from) throw malformed('a section is longer than the file')
    if (type === SIGNATURE) throw malformed('it is signed: measure it before it is')
    if (type < KERNEL || type > METADATA) throw malformed(`a section has the unknown type ${type}`)
    at = from + Number(size)
    sections.push({ type, content: image.subarray(from, at) })
  }
  if (sections.length !== image.readUInt16BE(SECTION_COUNT_AT)) throw malformed('sections are missing')
  return sections
}

/** A register that was extended once: SHA384(0⁴⁸ ‖ SHA384(content)). */
function register(sections: readonly Section[]): string {
  const content = createHash('sha384')
  for (const section of sections) content.update(section.content)
  return createHash('sha384').update(Buffer.alloc(48)).update(content.digest()).digest('hex')
}

function malformed(text: string): CommandError {
  return new CommandError('image-malformed', `the image cannot be measured: ${text}`)
}
