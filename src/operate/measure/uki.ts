// The registers of a machine with NitroTPM that boots a unified kernel image, without Secure Boot.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-pcr-compute.html
import { createHash } from 'node:crypto'
import type { Registers } from '../../attestation/nitro.js'
import { ZERO_REGISTER } from '../../attestation/nitro.js'
import { CommandError } from '../../terminal/failure.js'

/** From this version on, systemd's stub starts the kernel without the firmware, which measures it in older ones. */
const STUB_THAT_STARTS_THE_KERNEL = 258
const BOOT_ATTEMPT = 'Calling EFI Application from Boot Option'
const SEPARATOR = createHash('sha384').update(Buffer.alloc(4)).digest()

/**
 * PCR 2, 4, 12 and 13, in hex. The firmware extends PCR 4 by its boot attempt, a separator and the image's Authenticode digest (TCG PC Client Platform
 * Firmware Profile, 3.3.4.5); an older stub has it extended by the kernel's too. PCR 12 and 13 are zero while nobody
 * adds to the command line, or an extension beside the image. PCR 2 has the separator alone while the firmware loads no driver: none of a
 * disk, and none that its variables name.
 * @throws CommandError `image-malformed`
 */
export function registersOfUki(image: Buffer): Registers {
  const uki = readPe(image)
  const version = /systemd-stub (\d+)/.exec(`${uki.section('.sdmagic')?.toString('latin1')}`)?.[1]
  const kernel = uki.section('.linux')
  if (version === undefined || kernel === undefined)
    throw malformed('it has no kernel, or no mark of systemd-stub')
  const isKernelMeasured = Number(version) < STUB_THAT_STARTS_THE_KERNEL
  const events = [
    sha384(Buffer.from(BOOT_ATTEMPT)),
    SEPARATOR,
    uki.authenticode(),
    ...(isKernelMeasured ? [readPe(kernel).authenticode()] : []),
  ]
  return { 2: extended([SEPARATOR]), 4: extended(events), 12: ZERO_REGISTER, 13: ZERO_REGISTER }
}

/** Reads a PE32+ file. https://learn.microsoft.com/windows/win32/debug/pe-format */
function readPe(file: Buffer) {
  try {
    const header = file.readUInt32LE(0x3c)
    const optional = header + 24
    if (file.readUInt32LE(header) !== 0x4550 || file.readUInt16LE(optional) !== 0x20b)
      throw malformed('it is no 64-bit PE file')
    const table = optional + file.readUInt16LE(header + 20)
    const sections = Array.from({ length: file.readUInt16LE(header + 6) }, (_, index) => {
      const at = table + index * 40
      const [size, from] = [file.readUInt32LE(at + 16), file.readUInt32LE(at + 20)]
      if (from + size > file.length) throw malformed('a section is longer than the file')
      const name = file.toString('latin1', at, at + 8).replace(/\0+$/, '')
      // Padding up to the alignment of the file is no part of what the section has.
      return { name, from, to: from + size, used: from + Math.min(size, file.readUInt32LE(at + 8)) }
    })
    return {
      section(name: string): Buffer | undefined {
        const found = sections.find((each) => each.name === name)
        return found && file.subarray(found.from, found.used)
      },
      authenticode: () => authenticodeOf(file, optional, sections),
    }
  } catch (error) {
    if (error instanceof RangeError) throw malformed('its headers are cut off')
    throw error
  }
}

/** All of the file but its checksum, the place of its signatures, and the signatures. */
function authenticodeOf(
  file: Buffer,
  optional: number,
  sections: readonly { readonly from: number; readonly to: number }[],
): Buffer {
  const [checksum, signatures] = [optional + 64, optional + 144]
  const headers = file.readUInt32LE(optional + 60)
  const parts = [
    file.subarray(0, checksum),
    file.subarray(checksum + 4, signatures),
    file.subarray(signatures + 8, headers),
  ]
  let hashed = headers
  for (const { from, to } of sections.toSorted((a, b) => a.from - b.from)) {
    parts.push(file.subarray(from, to))
    hashed += to - from
  }
  return sha384(...parts, file.subarray(hashed, file.length - file.readUInt32LE(signatures + 4)))
}

function extended(events: readonly Buffer[]): string {
  return events.reduce((pcr, event) => sha384(pcr, event), Buffer.alloc(48)).toString('hex')
}

function sha384(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha384')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function malformed(text: string): CommandError {
  return new CommandError('image-malformed', `the image cannot be measured: ${text}`)
}
