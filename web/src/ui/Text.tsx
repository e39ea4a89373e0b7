/** A sentence in which `what stands between backticks` is code, as messages of the node write it. */
export function Text({ children }: { children: string }) {
  return <>{children.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}
