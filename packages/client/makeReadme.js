// Writes the package's README.md and CHANGELOG.md: docs/client.md, and what CHANGELOG.md says of the client library. Links to other pages
// of the repository lead nowhere in a package.
import { readFileSync, writeFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')
const [title, ...rest] = page.split('\n')
const note =
  'This is `docs/client.md` of the platform’s repository. The pages and folders that it names are there.'
const withoutLinks = (text) => text.replace(/\[([^\]\n]+)\]\((?!#|https?:)[^)\n]*\)/g, '$1')
writeFileSync(new URL('README.md', import.meta.url), `${title}\n\n${note}\n${withoutLinks(rest.join('\n'))}`)

const changes = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
// Each heading, and each item that names the client library first, with the lines that belong to it.
const items = changes.match(/^##+ .*$|^- (?:\*\*)?Client library.*(?:\n {2}.*)*/gm) ?? []
const isEmpty = (item, next) => item.startsWith('### ') && (next === undefined || next.startsWith('#'))
const kept = items.filter((item, index) => !isEmpty(item, items[index + 1]))
writeFileSync(new URL('CHANGELOG.md', import.meta.url), `# Changelog\n\n${withoutLinks(kept.join('\n\n'))}\n`)
