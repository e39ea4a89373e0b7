package catchment.pipeline;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system with permissions set by a system call: without its native library Hadoop starts a
 * {@code chmod} process for every file, which costs most of a checkpoint's time.
 */
public final class QuickLocalFileSystem extends LocalFileSystem {
    public QuickLocalFileSystem() {
        super(new Raw());
    }

    private static final class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(Path path, FsPermission permission) throws IOException {
            // Only the nine usual bits: the sticky bit has no meaning for a checkpoint.
            String bits = new FsPermission((short) (permission.toShort() & 0777)).toString();
            Set<PosixFilePermission> permissions = PosixFilePermissions.fromString(bits);
            Files.setPosixFilePermissions(pathToFile(path).toPath(), permissions);
        }
    }
}
