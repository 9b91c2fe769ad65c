// `operate measure`, on images made by hand: their registers are told here by the rules of their makers, in other words.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkPolicy, measurementOf } from '../../src/attestation/policy.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const sha384 = (...parts: (Buffer | string)[]) => {
  const hash = createHash('sha384')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const extend = (pcr: Buffer, event: Buffer) => sha384(pcr, event)
const ZEROS = Buffer.alloc(48)
const CONFIGURATION = `0x${'cd'.repeat(32)}`

async function measure(option: string, content: Buffer, ...more: string[]) {
  const file = join(await temporaryDirectory(), 'image')
  await writeFile(file, content)
  return operate(['measure', option, file, ...more])
}

const [KERNEL, COMMAND_LINE, RAMDISK, SIGNATURE, METADATA] = [1, 2, 3, 4, 5]
type Section = readonly [type: number, content: string]
const SECTIONS: readonly Section[] = [
  [KERNEL, 'a kernel'],
  [COMMAND_LINE, 'console=ttyS0'],
  [METADATA, '{"BuildTime":"2026"}'],
  [RAMDISK, 'init'],
  [RAMDISK, 'the program'],
  [RAMDISK, 'more'],
]

function eifOf(sections: readonly Section[]): Buffer {
  const header = Buffer.alloc(548)
  header.write('.eif')
  header.writeUInt16BE(4, 4)
  header.writeUInt16BE(sections.length, 26)
  const body = sections.flatMap(([type, content]) => {
    const head = Buffer.alloc(12)
    head.writeUInt16BE(type, 0)
    head.writeBigUInt64BE(BigInt(content.length), 4)
    return [head, Buffer.from(content)]
  })
  const image = Buffer.concat([header, ...body])
  image.writeUInt32BE(crc32(Buffer.concat([image.subarray(0, 544), image.subarray(548)])), 544)
  return image
}

describe('the image of a Nitro Enclave', () => {
  const once = (...texts: string[]) => extend(ZEROS, sha384(...texts)).toString('hex')
  const pcrs = {
    0: once('a kernel', 'console=ttyS0', 'init', 'the program', 'more'),
    1: once('a kernel', 'console=ttyS0', 'init'),
    2: once('the program', 'more'),
  }

  it('gives a policy that names its three registers', async () => {
    const more = ['--configuration', CONFIGURATION, '--label', '0.3.0']
    const { exit, out, err } = await measure('--eif', eifOf(SECTIONS), ...more)
    expect(exit).toBe(0)
    const policy: unknown = JSON.parse(out)
    checkPolicy(policy)
    expect(policy).toEqual([{ label: '0.3.0', pcrs, configuration: CONFIGURATION }])
    expect(err).toContain(`measurement ${await measurementOf('pcrs', pcrs)}`)
  })

  it.each<[string, Buffer]>([
    ['another file', Buffer.alloc(1_000)],
    ['a file that is cut off', eifOf(SECTIONS).subarray(0, -1)],
    ['a changed byte', Buffer.from(eifOf(SECTIONS).map((byte, at) => (at === 570 ? byte ^ 1 : byte)))],
    ['a section of an unknown type', eifOf([...SECTIONS, [6, 'x']])],
    ['a signature', eifOf([...SECTIONS, [SIGNATURE, 'x']])],
    ['no ramdisk', eifOf(SECTIONS.slice(0, 2))],
  ])('is refused with %s', async (_, image) => {
    expect(await measure('--eif', image)).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining('(image-malformed)'),
    })
  })
})

/** A PE32+ file of two sections, with signatures behind them where `signed`. */
function peOf(sections: Readonly<Record<string, Buffer>>, { signed = false, checksum = 0 } = {}): Buffer {
  const headers = Buffer.alloc(512)
  const optional = 0x40 + 24
  headers.write('MZ')
  headers.writeUInt32LE(0x40, 0x3c)
  headers.write('PE\0\0', 0x40, 'latin1')
  headers.writeUInt16LE(Object.keys(sections).length, 0x40 + 6)
  headers.writeUInt16LE(240, 0x40 + 20)
  headers.writeUInt16LE(0x20b, optional)
  headers.writeUInt32LE(headers.length, optional + 60)
  headers.writeUInt32LE(checksum, optional + 64)
  headers.writeUInt32LE(16, optional + 108)
  const bodies: Buffer[] = []
  let from = headers.length
  for (const [index, [name, content]] of Object.entries(sections).entries()) {
    const at = optional + 240 + index * 40
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 511)])
    headers.write(name, at)
    headers.writeUInt32LE(content.length, at + 8)
    headers.writeUInt32LE(padded.length, at + 16)
    headers.writeUInt32LE(from, at + 20)
    bodies.push(padded)
    from += padded.length
  }
  const signatures = Buffer.alloc(signed ? 64 : 0, 0x5a)
  if (signed) headers.writeUInt32LE(from, optional + 144)
  headers.writeUInt32LE(signatures.length, optional + 148)
  return Buffer.concat([headers, ...bodies, signatures])
}

/** The Authenticode digest: of everything but four bytes at 152 and eight at 232, in these files without a signature. */
function authenticode(pe: Buffer): Buffer {
  return sha384(pe.subarray(0, 152), pe.subarray(156, 232), pe.subarray(240))
}

const kernel = peOf({ '.text': Buffer.from('a kernel') })
const ukiOf = (version: number, options = {}) => {
  const mark = Buffer.from(`#### LoaderInfo: systemd-stub ${version}.4-1 ####\0`)
  return peOf({ '.sdmagic': mark, '.linux': kernel }, options)
}

describe('the unified kernel image of a machine with NitroTPM', () => {
  const attempt = [sha384('Calling EFI Application from Boot Option'), sha384(Buffer.alloc(4))]

  it.each([
    [258, []],
    [257, [authenticode(kernel)]],
  ])('has its kernel measured by a stub before 258 alone (%i)', async (version, kernels) => {
    const uki = ukiOf(version)
    const events = [...attempt, authenticode(uki), ...kernels]
    const nitrotpm = {
      // As a document of a real machine has it, which its owner has published.
      2: '518923b0f955d08da077c96aaba522b9decede61c599cea6c41889cfbea4ae4d50529d96fe4d1afdafb65e7f95bf23c4',
      4: events.reduce(extend, ZEROS).toString('hex'),
      12: '0'.repeat(96),
      13: '0'.repeat(96),
    }
    const { exit, out } = await measure('--uki', uki, '--configuration', CONFIGURATION)
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toEqual([
      { label: 'measured', nitrotpm_pcrs: nitrotpm, configuration: CONFIGURATION },
    ])
  })

  it('has the same registers once it is signed', async () => {
    const plain = await measure('--uki', ukiOf(258), '--json')
    expect((await measure('--uki', ukiOf(258, { signed: true, checksum: 77 }), '--json')).out).toBe(plain.out)
  })

  it.each<[string, Buffer]>([
    ['another file', Buffer.alloc(1_000)],
    ['no kernel', peOf({ '.sdmagic': Buffer.from('#### LoaderInfo: systemd-stub 258 ####') })],
    ['a stub of unknown version', peOf({ '.linux': kernel })],
  ])('is refused with %s', async (_, image) => {
    expect(await measure('--uki', image)).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining('(image-malformed)'),
    })
  })
})

describe('a machine of dstack', () => {
  const image = {
    mrtd: 'a0'.repeat(48),
    rtmr0: 'a1'.repeat(48),
    rtmr1: 'a2'.repeat(48),
    rtmr2: 'a3'.repeat(48),
  }
  const provider = '{"name":"local-sgx","id":"a1"}'

  async function measureDstack(changes: object, ...more: string[]) {
    const compose = join(await temporaryDirectory(), 'app-compose.json')
    await writeFile(compose, 'abc')
    const content = Buffer.from(JSON.stringify({ ...image, ...changes }))
    return measure('--dstack', content, '--app-compose', compose, ...more)
  }

  it('gives a policy of what dstack-mr says of the image, of app-compose.json, and of who provides its keys', async () => {
    const more = ['--key-provider', provider, '--configuration', CONFIGURATION]
    const { out, err } = await measureDstack({ mr_image: '00' }, ...more)
    const policy: unknown = JSON.parse(out)
    checkPolicy(policy)
    const tdx = {
      ...image,
      composeHash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      keyProvider: createHash('sha256').update(provider).digest('hex'),
    }
    expect(policy).toEqual([{ label: 'measured', tdx, configuration: CONFIGURATION }])
    expect(err).toContain(`measurement ${await measurementOf('tdx', tdx)}`)
  })

  it.each<[string, object, string[], string]>([
    ['no RTMR2', { rtmr2: undefined }, ['--key-provider', provider], 'image-malformed'],
    ['no provider', {}, [], 'usage'],
  ])('is refused with %s', async (_, changes, more, code) => {
    const refused = await measureDstack(changes, ...more)
    expect(refused).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(`(${code})`) })
  })
})
