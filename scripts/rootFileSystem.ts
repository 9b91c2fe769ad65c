// Writes the files of an attested image as a tar (POSIX ustar), the same byte for byte wherever and whenever it is built:
//   npx tsx scripts/rootFileSystem.ts root.tar <folder of Debian's packages> [x64|arm64]
// Nothing of a file but its bytes goes into it: names, modes, owner, time and order are told here. It is not compressed, because a compressor's
// version would decide about its bytes. docs/operations/attested-machines.md says where the packages come from, and what is missing.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Entry {
  /** Without a slash at the beginning; at most 100 bytes of ASCII. */
  readonly path: string
  readonly content: Buffer
  readonly isProgram?: boolean
}

/** A package of Debian, and the files of it that Node's binary names as needed (`readelf -d`). */
interface Package {
  readonly file: string
  readonly sha256: string
  readonly libraries: readonly string[]
}

interface Architecture {
  /** SHA-256 of the binary of `runtime/package.json`'s release, in npm's package of the platform. */
  readonly node: string
  /** The folder that the loader of Debian looks into. */
  readonly folder: string
  /** What the binary names as its loader, and the file of `libc6` that it is. */
  readonly loader: readonly [path: string, name: string]
  readonly packages: readonly Package[]
}

const LIBC = ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0']
const GCC = '12.2.0-14+deb12u1'

/** Digests as Debian 12.15 signs them. */
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    node: 'ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da',
    folder: 'lib/x86_64-linux-gnu',
    loader: ['lib64/ld-linux-x86-64.so.2', 'ld-linux-x86-64.so.2'],
    packages: [
      {
        file: 'libc6_2.36-9+deb12u14_amd64.deb',
        sha256: 'ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf',
        libraries: LIBC,
      },
      {
        file: `libstdc++6_${GCC}_amd64.deb`,
        sha256: '5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d',
        libraries: ['libstdc++.so.6'],
      },
      {
        file: `libgcc-s1_${GCC}_amd64.deb`,
        sha256: '3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7',
        libraries: ['libgcc_s.so.1'],
      },
      {
        file: `libatomic1_${GCC}_amd64.deb`,
        sha256: 'fbd4e154a6b444229ea002cc209df099209c0adc09102e5fd21239a3d2b55e2d',
        libraries: ['libatomic.so.1'],
      },
    ],
  },
  arm64: {
    node: '71b004f18a82f3ea8f26109798564a12e5e4c7989a4c35b93851830b5815dd03',
    folder: 'lib/aarch64-linux-gnu',
    loader: ['lib/ld-linux-aarch64.so.1', 'ld-linux-aarch64.so.1'],
    packages: [
      {
        file: 'libc6_2.36-9+deb12u14_arm64.deb',
        sha256: '01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4',
        libraries: LIBC,
      },
      {
        file: `libstdc++6_${GCC}_arm64.deb`,
        sha256: '26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2',
        libraries: ['libstdc++.so.6'],
      },
      {
        file: `libgcc-s1_${GCC}_arm64.deb`,
        sha256: '576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3',
        libraries: ['libgcc_s.so.1'],
      },
      {
        file: `libatomic1_${GCC}_arm64.deb`,
        sha256: '1693aa13ce2b30d061a519fc28b77b9bab8c8e45804ced5969d99821e1bc2159',
        libraries: ['libatomic.so.1'],
      },
    ],
  },
}
const BLOCK = 512

/** The archive: entries by name, each below the folders that it needs. Everything belongs to root, and is of 1970. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const folders = new Set(entries.flatMap(({ path }) => parentsOf(path)))
  const members = [
    ...[...folders].map((path) => ({
      path,
      header: headerOf(path, '5', 0o755, 0),
      content: Buffer.alloc(0),
    })),
    ...entries.map(({ path, content, isProgram }) => {
      return { path, header: headerOf(path, '0', isProgram ? 0o755 : 0o644, content.length), content }
    }),
  ]
  // By bytes: an order of letters depends on the machine's language.
  const sorted = members.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const parts = sorted.flatMap(({ header, content }) => [
    header,
    content,
    Buffer.alloc(-content.length & (BLOCK - 1)),
  ])
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)
}

function headerOf(path: string, type: '0' | '5', mode: number, size: number): Buffer {
  if (!/^[\w.+/-]{1,100}$/.test(path)) throw new Error(`${path} is no name of 100 bytes at most`)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  const header = Buffer.alloc(BLOCK)
  const fields = {
    0: path,
    100: octal(mode, 7),
    108: octal(0, 7),
    116: octal(0, 7),
    124: octal(size, 11),
    136: octal(0, 11),
    148: ' '.repeat(8),
    156: type,
    257: 'ustar\x0000',
  }
  for (const [at, text] of Object.entries(fields)) header.write(text, Number(at), 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)} `, 148, 'latin1')
  return header
}

/** The bytes of a file. @throws Error where they are not the pinned ones */
export function checked(path: string, sha256: string): Buffer {
  const content = readFileSync(path)
  const found = createHash('sha256').update(content).digest('hex')
  if (found !== sha256) throw new Error(`${path} has the SHA-256 ${found}, not the pinned one`)
  return content
}

/**
 * The libraries of packages, and the loader, where the loader looks for them.
 * @param from the folder of the packages' files
 * @throws Error for another package than the pinned one
 */
export function librariesOf({ folder, loader, packages }: Omit<Architecture, 'node'>, from: string): Entry[] {
  const [path, name] = loader
  const unpacked = mkdtempSync(join(tmpdir(), 'root-'))
  const read = (library: string) => readFileSync(join(unpacked, 'all', library))
  try {
    for (const [index, { file, sha256 }] of packages.entries()) {
      // A copy of the bytes that were checked.
      const copy = join(unpacked, `${index}.deb`)
      writeFileSync(copy, checked(join(from, file), sha256))
      execFileSync('dpkg-deb', ['--extract', copy, join(unpacked, 'all')])
    }
    const placed = packages.flatMap(({ libraries }) => libraries)
    return [
      ...placed.map((library) => ({
        path: `${folder}/${library}`,
        content: read(existingPath(join(unpacked, 'all'), folder, library)),
      })),
      { path, content: read(`${folder}/${name}`), isProgram: true },
    ]
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

/** Packages of gcc are below `usr`. */
function existingPath(root: string, folder: string, library: string): string {
  return existsSync(join(root, folder, library)) ? `${folder}/${library}` : `usr/${folder}/${library}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out, packages, name = 'x64'] = process.argv.slice(2)
  const architecture = ARCHITECTURES[name]
  if (out === undefined || packages === undefined || architecture === undefined)
    throw new Error('name the file to write, the folder of packages, and x64 or arm64')
  const archive = tarOf([
    { path: 'opt/trading/attested.js', content: readFileSync('dist/enclave/attested.js') },
    {
      path: 'opt/trading/node',
      content: checked(`node_modules/node-linux-${name}/bin/node`, architecture.node),
      isProgram: true,
    },
    ...librariesOf(architecture, packages),
  ])
  writeFileSync(out, archive)
  process.stdout.write(`${createHash('sha256').update(archive).digest('hex')}  ${out}\n`)
}
