import { useState } from "preact/hooks";
import { API, get, post, remove, sentenceOf, type Schemas } from "../api";
import { count, duration, moment, plural } from "../format";
import { useLoad } from "../load";
import { useTalk } from "../ui/Dialog";
import { Badge, Card, Show } from "../ui/Page";
import { Table, type Column } from "../ui/Table";
import { Text } from "../ui/Text";

type Recount = Schemas["Recount"];
type Proof = Schemas["Proof"];

interface Lost {
  stream: string;
  source: string;
  place: string;
  first: number;
  last: number;
}

const RECOUNT = `${API}/proof/recount`;
// While it counts; a result stays as it is.
const EVERY_MS = 2_000;

/** Counts all records again, for those who do not trust the running counts. */
export function RecountCard() {
  const { say } = useTalk();
  const [isCounting, setIsCounting] = useState(false);
  const load = async (signal: AbortSignal) => {
    const found = (await get<Recount | undefined>(RECOUNT, {}, signal)) ?? null;
    setIsCounting(found?.state === "counting");
    return found;
  };
  const recount = useLoad("recount", load, isCounting ? EVERY_MS : 0);
  const act = async (asked: Promise<unknown>) => {
    await asked.catch((error) => say(sentenceOf(error)));
    recount.reload();
  };
  return (
    <Card
      title="Count again"
      id="recount"
      aside={
        isCounting ? (
          <button type="button" onClick={() => act(remove(RECOUNT))}>Stop</button>
        ) : (
          <button type="button" onClick={() => act(post(RECOUNT))}>Count again</button>
        )
      }
    >
      <p class="quiet">Reads all records that this node's broker has from the beginning, instead of trusting the running counts. A million take some seconds.</p>
      <Show of={recount}>{(now) => now && <Found of={now} />}</Show>
    </Card>
  );
}

function Found({ of }: { of: Recount }) {
  const asked = `${of.by}, ${moment(of.started_ms)}`;
  const took = of.ended_ms ? duration((of.ended_ms - of.started_ms) / 1_000) : "";
  if (of.failure) return <p class="refusal" role="alert"><Text>{`${of.failure.detail}. ${of.failure.remedy}`}</Text></p>;
  if (!of.proof) {
    return <p role="status">{of.state === "counting" ? `Counting: ${plural(of.records, "record", "records")} so far` : "Stopped"} ({asked})</p>;
  }
  return (
    <>
      <p role="status">
        <Badge tone={of.proof.holds ? "good" : of.proof.missing ? "bad" : "fair"}>{verdict(of.proof)}</Badge> {plural(of.records, "record", "records")} read in {took}; {count(of.proof.expired)} expired ({asked})
      </p>
      {of.proof.missing > 0 && <Table label="Missing in the recount" columns={COLUMNS} rows={lostOf(of.proof)} keyOf={(lost) => Object.values(lost).join()} />}
    </>
  );
}

const COLUMNS: Column<Lost>[] = [
  { title: "Stream", cell: (lost) => <strong>{lost.stream}</strong>, class: "name" },
  { title: "Gateway", cell: (lost) => lost.source, class: "place" },
  { title: "Missing at", cell: (lost) => lost.place },
  { title: "Numbers", cell: (lost) => (lost.first === lost.last ? count(lost.first) : `${count(lost.first)} to ${count(lost.last)}`), numeric: true },
];

function lostOf(proof: Proof): Lost[] {
  return proof.streams.flatMap(({ stream, site, gateway, epoch, hops }) =>
    hops.flatMap((hop) =>
      hop.gaps.map(([first, last]) => ({ stream, source: `${site} / ${gateway} / ${epoch}`, place: `${hop.node} (${hop.stage})`, first: first as number, last: last as number })),
    ),
  );
}

function verdict(proof: Proof): string {
  if (proof.holds) return "nothing is missing";
  return proof.missing ? `${count(proof.missing)} missing` : `${count(proof.under_way)} under way`;
}
