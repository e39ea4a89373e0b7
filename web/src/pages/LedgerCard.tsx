import { count, plural } from "../format";
import { to } from "../router";
import type { Totals } from "../types";

/** The ledger in one line: what was accepted, what arrived, what is missing. */
export function LedgerCard({ totals, current }: { totals: Totals; current: boolean }) {
  return (
    <section class="card ledger" aria-labelledby="ledger">
      <div class="heading">
        <h2 id="ledger">Ledger</h2>
        <a href={to(["ledger"])}>Every stream</a>
      </div>
      <p class="big">{count(totals.received)}</p>
      <p class="quiet">records received of {count(totals.accepted)} that gateways accepted</p>
      <dl>
        <Figure name="Under way" value={totals.under_way} />
        <Figure name="Missing" value={totals.missing} tone={totals.missing ? "bad" : ""} />
        <Figure name="Duplicates dropped" value={totals.duplicates} />
        <Figure name="Out of order" value={totals.out_of_order} />
      </dl>
      <p class={`summary ${totals.missing ? "bad" : ""}`}>{sentence(totals, current)}</p>
    </section>
  );
}

function Figure({ name, value, tone = "" }: { name: string; value: number; tone?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={tone}>{count(value)}</dd>
    </div>
  );
}

export function sentence(totals: Totals, current: boolean): string {
  if (!current) return "Still reading the ledger; the counts will grow.";
  if (totals.missing) return `${plural(totals.missing, "record is", "records are")} missing.`;
  return totals.received ? "Nothing is missing." : "Nothing has arrived yet.";
}
