import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import * as enclave from '../../src/enclave/configSchema.js'
import * as server from '../../src/server/config/schema.js'

/** The Markdown pages of the repository: those at its root, and all below these folders. */
const pages = [
  ...readdirSync('.'),
  ...['docs', 'src', 'web', 'contracts', 'test', 'bench', 'data'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((name) => name.endsWith('.md') && !name.includes('node_modules') && name !== 'contracts/gas.md')

/** The anchors of a page's headings, as the usual hosts make them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(target)) return true
  return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}

test.each(pages)('every link in %s leads somewhere in the repository', (page) => {
  // Text in code is no link.
  const text = readFileSync(page, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
  const local = links.filter((link) => !/^[a-z]+:/.test(link))
  expect(local.filter((link) => isBroken(page, link))).toEqual([])
})

test('no page but the change log and the decisions names a variable that server and enclave have no more', () => {
  const today = pages.filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('docs/decisions/'))
  const naming = today.flatMap((page) => {
    // A refusal that is quoted begins with the name.
    const words = new Set(readFileSync(page, 'utf8').match(/\b[A-Z][A-Z_]+\b(?!: is gone)/g))
    return Object.keys({ ...server.FORMER_VARIABLES, ...enclave.FORMER_VARIABLES })
      .filter((name) => words.has(name))
      .map((name) => `${page}: ${name}`)
  })
  expect(naming).toEqual([])
})

const ROOMS = readdirSync('src/server')
const PATH = /`((?:bench|contracts|deploy|docs|scripts|src|test|web)\/[\w./-]+)`/g
const PART = /`(\w+)\/(\w+)`/g

test.each(pages)('every file and room that %s names is there', (page) => {
  const text = readFileSync(page, 'utf8')
  const paths = [...text.matchAll(PATH)].map((match) => match[1] ?? '')
  const parts = [...text.matchAll(PART)]
    .filter(([, room = '']) => ROOMS.includes(room))
    .map(([, room = '', part = '']) => `src/server/${room}/${part}`)
  const isThere = (path: string) => [path, `${path}.ts`, `${path}.test.ts`].some((name) => existsSync(name))
  expect([...paths, ...parts].filter((path) => !isThere(path))).toEqual([])
})
