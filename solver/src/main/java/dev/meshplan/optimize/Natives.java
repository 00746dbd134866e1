package dev.meshplan.optimize;

import com.google.ortools.Loader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Loads OR-Tools' native libraries from a folder of the user's own, unpacked once: the library's
 * own loader unpacks them at every start, which takes four times as long as all the rest. On any
 * trouble that loader is used.
 */
final class Natives {
  private static boolean loaded;

  private Natives() {}

  /** Loads the natives once per process. */
  static synchronized void load() {
    if (loaded) {
      return;
    }
    try {
      Path folder = unpacked();
      if (folder == null) {
        Loader.loadNativeLibraries();
      } else {
        System.load(folder.resolve(System.mapLibraryName("jniortools")).toString());
      }
    } catch (IOException | UnsatisfiedLinkError | SecurityException e) {
      Loader.loadNativeLibraries();
    }
    loaded = true;
  }

  private static Path unpacked() throws IOException {
    String platform = platform();
    URL url = Natives.class.getClassLoader().getResource(platform + "/");
    if (url == null || !url.getProtocol().equals("jar")) {
      return null;
    }
    String jar = url.getPath().substring(0, url.getPath().indexOf("!/"));
    Path file = Path.of(java.net.URI.create(jar));
    try (ZipFile zip = new ZipFile(file.toFile())) {
      List<ZipEntry> entries = new ArrayList<>();
      CRC32 key = new CRC32();
      zip.stream()
          .filter(e -> e.getName().startsWith(platform + "/") && !e.isDirectory())
          .forEach(
              e -> {
                entries.add(e);
                key.update(
                    (e.getName() + e.getCrc() + e.getSize())
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8));
              });
      Path root = root();
      Path folder = root.resolve(platform + "-" + Long.toHexString(key.getValue()));
      if (!whole(folder, entries)) {
        unpack(zip, entries, root, folder);
      }
      return folder;
    }
  }

  private static void unpack(ZipFile zip, List<ZipEntry> entries, Path root, Path folder)
      throws IOException {
    Path fresh = Files.createTempDirectory(root, "unpack");
    for (ZipEntry e : entries) {
      Path to = fresh.resolve(name(e));
      try (InputStream in = zip.getInputStream(e)) {
        Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    try {
      Files.move(fresh, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException lostRace) {
      if (!whole(folder, entries)) {
        throw lostRace;
      }
    }
  }

  private static boolean whole(Path folder, List<ZipEntry> entries) throws IOException {
    for (ZipEntry e : entries) {
      Path f = folder.resolve(name(e));
      if (!Files.isRegularFile(f) || Files.size(f) != e.getSize()) {
        return false;
      }
    }
    return true;
  }

  private static String name(ZipEntry e) {
    return e.getName().substring(e.getName().lastIndexOf('/') + 1);
  }

  /** The cache folder: only its owner may write there, or a stranger could plant a library. */
  private static Path root() throws IOException {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path base =
        cache != null && !cache.isBlank()
            ? Path.of(cache)
            : Path.of(System.getProperty("user.home"), ".cache");
    Path root = base.resolve("meshplan");
    Files.createDirectories(base);
    if (!Files.exists(root)) {
      if (base.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.createDirectory(
            root,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } else {
        Files.createDirectory(root);
      }
    }
    if (!Files.getOwner(root).equals(Files.getOwner(Path.of(System.getProperty("user.home"))))) {
      throw new IOException("the cache folder belongs to somebody else");
    }
    return root;
  }

  private static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    String family = os.contains("win") ? "win32" : os.contains("mac") ? "darwin" : "linux";
    return "ortools-" + family + "-" + (arch.equals("aarch64") ? "aarch64" : "x86-64");
  }
}
