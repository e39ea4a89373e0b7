import { useState } from "preact/hooks";
import { API, get, put, remove, sentenceOf, type Schemas } from "../api";
import { useLoad } from "../load";
import { to, type Route } from "../router";
import { useSession } from "../session";
import { Dialog, useTalk } from "../ui/Dialog";
import { Field, Form, named, type Values } from "../ui/Form";
import { Badge, Card, Empty, Page, Show, Tabs } from "../ui/Page";
import { Secret } from "../ui/Secret";
import { Table } from "../ui/Table";
import { Sessions } from "./Sessions";
import { Tokens } from "./Tokens";

type User = Schemas["UserSummary"];
export type Roles = Schemas["RoleList"];

const PARTS = ["", "tokens", "sessions"];

/** Who may sign in, tokens of programs, and open sessions. */
export function Users({ route }: { route: Route }) {
  const part = PARTS.find((each) => each && each === route.path[1]) ?? "";
  const [adding, setAdding] = useState(false);
  const roles = useLoad("roles", (signal) => get<Roles>(`${API}/roles`, {}, signal));
  const things = { "": "Add a user", tokens: "New token" }[part];
  return (
    <Page
      title="Users and tokens"
      needs={["users:write"]}
      about="People sign in with a name and a password, programs with a token. A role says what they may do."
      actions={things && <button type="button" class="primary" onClick={() => setAdding(true)}>{things}</button>}
    >
      <Tabs
        label="Access"
        now={to(["users", part].filter(Boolean))}
        tabs={[{ title: "Users", href: to(["users"]) }, { title: "Tokens", href: to(["users", "tokens"]) }, { title: "Sessions", href: to(["users", "sessions"]) }]}
      />
      <Show of={roles}>
        {(known) => {
          const close = () => setAdding(false);
          if (part === "sessions") return <Sessions />;
          return part === "tokens" ? <Tokens roles={known} adding={adding} onClose={close} /> : <UserList roles={known} adding={adding} onClose={close} />;
        }}
      </Show>
    </Page>
  );
}

function UserList({ roles, adding, onClose }: { roles: Roles; adding: boolean; onClose: () => void }) {
  const { who } = useSession();
  const { ask, say } = useTalk();
  const [chosen, setChosen] = useState<User | null>(null);
  const [secret, setSecret] = useState<{ name: string; password: string } | null>(null);
  const users = useLoad("users", (signal) => get<{ items: User[] }>(`${API}/users`, {}, signal));
  const path = (name: string) => `${API}/users/${encodeURIComponent(name)}`;
  const close = () => {
    setChosen(null);
    onClose();
    users.reload();
  };
  const save = async (values: Values) => {
    const made = await put<{ one_time_password: string | null }>(path(values.name!), { role: values.role, password: null });
    if (made.one_time_password) setSecret({ name: values.name!, password: made.one_time_password });
    else say(`${values.name} is ${values.role} now.`);
    close();
  };
  const reset = async (user: User) => {
    const text = "The password of today stops working, and all sessions end. A one-time password is made, with which a new one is chosen.";
    if (!(await ask({ title: `Reset the password of ${user.name}?`, text, action: "Reset", destructive: true }))) return;
    await put<{ one_time_password: string }>(`${path(user.name)}/password`, { password: null }).then(
      (made) => setSecret({ name: user.name, password: made.one_time_password }),
      (error) => say(sentenceOf(error)),
    );
    users.reload();
  };
  const drop = async (user: User) => {
    const text = "All sessions end at once. What was done stays in the audit log.";
    if (!(await ask({ title: `Delete ${user.name}?`, text, action: "Delete", destructive: true }))) return;
    await remove(path(user.name)).then(() => say(`${user.name} is deleted.`), (error) => say(sentenceOf(error)));
    users.reload();
  };
  return (
    <Card>
      <Show of={users}>
        {({ items }) =>
          items.length ? (
            <Table
              label="Users"
              rows={items}
              keyOf={(user) => user.name}
              columns={[
                { title: "User", cell: (user) => <><strong>{user.name}</strong> {user.name === who.name && <span class="quiet">you</span>}</>, class: "name" },
                { title: "Role", cell: (user) => user.role },
                { title: "Password", cell: (user) => (user.must_change_password ? <Badge tone="fair">one-time</Badge> : <Badge tone="good">own</Badge>), class: "badge" },
                { title: "Since", cell: (user) => user.created_at.slice(0, 10), numeric: true },
                {
                  title: "Actions",
                  cell: (user) => (
                    <span class="row-actions">
                      <button type="button" onClick={() => setChosen(user)} aria-label={`Role of ${user.name}`}>Role</button>
                      <button type="button" onClick={() => reset(user)} aria-label={`Reset password of ${user.name}`}>Reset password</button>
                      <button type="button" onClick={() => drop(user)} aria-label={`Delete ${user.name}`}>Delete</button>
                    </span>
                  ),
                  class: "row-end",
                },
              ]}
            />
          ) : (
            <Empty title="Nobody has a name here yet">
              <p>Until there are users, tokens sign in. Add the first one: a one-time password is made.</p>
            </Empty>
          )
        }
      </Show>
      {(adding || chosen) && (
        <Dialog title={chosen ? `Role of ${chosen.name}` : "Add a user"} onClose={close}>
          <Form
            initial={{ name: chosen?.name ?? "", role: chosen?.role ?? "viewer" }}
            action={chosen ? "Save" : "Add"}
            onCancel={close}
            check={(values) => named(values, "name")}
            onSubmit={save}
          >
            {({ values }) => (
              <>
                <Field name="name" label="Name" required readOnly={Boolean(chosen)} />
                <Field name="role" label="Role" type="select" options={roles.items.map((role) => role.name)} hint={roles.items.find((role) => role.name === values.role)?.scopes.join(", ")} />
              </>
            )}
          </Form>
        </Dialog>
      )}
      {secret && (
        <Dialog title={`A password for ${secret.name}`} onClose={() => setSecret(null)}>
          <Secret label={`With this ${secret.name} signs in once, and then chooses another:`} text={secret.password} />
          <div class="dialog-foot"><button type="button" class="primary" onClick={() => setSecret(null)}>Done</button></div>
        </Dialog>
      )}
    </Card>
  );
}
